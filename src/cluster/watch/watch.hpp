// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ends this process, with a line that says why, when another rank of its job has ended without a
// word, or is silent; no matter what this rank does meanwhile, or in which library it is stuck.
//
// One thread, which sleeps except for a message to each of two neighbours twice a second
// (ring.hpp). It needs nothing of MPI, and nothing of the launcher. NIGH_CLUSTER_SILENCE on rank 0
// says after how many seconds a rank counts as silent (5); 0: no watch.

#include <cstddef>
#include <functional>
#include <memory>
#include <nigh/result.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "cluster/watch/link.hpp"
#include "cluster/watch/meeting.hpp"
#include "cluster/watch/ring.hpp"
#include "platform/bell.hpp"
#include "platform/event_set.hpp"
#include "platform/thread.hpp"

namespace nigh::cluster {

// NIGH_CLUSTER_SILENCE, in microseconds; negative: it is no time.
Time silence_of_environment();
inline constexpr char const* bad_silence =
    "NIGH_CLUSTER_SILENCE of rank 0 is not a number of seconds from 0.1 to 86400, or 0 for no "
    "watch";

class Watch {
 public:
  // Collective: takes bytes from every rank, as many from each, and gives all of them to each, in
  // the order of ranks.
  using Exchange = std::function<std::vector<std::byte>(std::span<std::byte const> mine)>;

  // Collective. Neighbours that cannot connect within the time are not watched; rank 0 says so on
  // standard error. An error, on all ranks, when NIGH_CLUSTER_SILENCE is no time.
  static result<std::unique_ptr<Watch>> start(int rank, int ranks, Exchange const& exchange,
                                              Time patience_us = 10'000'000);

  // Collective: returns when all ranks have called it. From then on ranks may end as they like.
  void leave();

  // Ends the process as after a loss, and has all others end, since that rank has ended its session
  // while they are in a run. Returns when nobody is watched, or when that takes too long.
  void end_without(int rank) noexcept;

  // This rank ends its session by an exception. When one is named for leaving, this process does
  // not end: the program may yet say what was thrown.
  void spare_this_rank() noexcept { is_spared_.store(true, sync::relaxed); }
  bool is_left_behind() const noexcept { return is_left_behind_.load(sync::relaxed); }

  // Without leave(), others take this for a rank that has ended.
  ~Watch();
  Watch(Watch&&) = delete;

 private:
  Watch(int rank, std::vector<Card> cards, Meeting::Links links, std::vector<bool> const& edges,
        platform::EventSet events);

  void run();
  void listen(Side side);
  void say(Ring::Sends const& sends);
  void part();
  void end();  // returns on a spared rank
  void write_loss() noexcept;
  Link& link(Side side) { return side == Side::left ? links_.left : links_.right; }

  int rank_;
  int process_;
  std::vector<Card> cards_;
  Meeting::Links links_;
  RingOptions options_;
  Ring ring_;
  platform::EventSet events_;
  bool has_written_ = false;  // who is lost
  platform::Bell bell_;
  // relaxed: nothing else is read because of one of these.
  sync::atomic<bool> leaves_{false}, stops_{false}, is_spared_{false}, is_left_behind_{false};
  sync::atomic<int> missing_{-1};  // the rank of end_without()
  std::optional<platform::Thread> thread_;
};

}  // namespace nigh::cluster
