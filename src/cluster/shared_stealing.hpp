// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stealing between ranks of one host, in the memory that they share. A state machine beside that
// memory: it reads and writes segments and returns decisions; it sends nothing and wakes nobody.
//
//   thief   looks at a rank's queue; if it is empty, writes `wanted`, and looks again and again
//   owner   sees `wanted`, and puts a chunk of its waiting tasks into its queue, as it would send
//           one; takes tasks back when it runs dry
//   thief   has the owner rung when the owner has not looked for a while: its workers have long
//   tasks
//
// A rank puts tasks there only when another wants some. So a rank that is alone on its host, or on
// a host where all have work, pays one load now and then. The words are hints and may be seen late
// or not at all: a thief never counts on being served, and keeps looking.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "cluster/shared_segment.hpp"
#include "cluster/steal_search.hpp"
#include "policy/stealing/attention.hpp"

namespace nigh::cluster {

class SharedStealing {
 public:
  struct Policies {
    policy::RingPolicy rings = {};
    std::int64_t soon_ns = 300'000;  // requested tasks may be expected for so long
  };

  SharedStealing(HostSegments segments, Policies const& policies)
      : segments_(std::move(segments)), policies_(policies) {}

  bool is_used() const noexcept { return segments_.any(); }
  bool reaches(int rank) const noexcept { return segments_.has(rank); }
  HostSegments const& segments() const noexcept { return segments_; }

  void begin_run(std::uint32_t run) {
    run_ = run;
    NIGH_ASSERT(!is_used() || segments_.own().queue.is_empty(),
                "no task is left of the run before");
  }

  // Tells the others that this rank looks, and whether it has no work.
  void look(bool is_hungry) noexcept {
    auto& own = segments_.own();
    own.looks.store(own.looks.load(sync::relaxed) + 1, sync::relaxed);
    say(own.hungry, is_hungry ? run_ : 0);
    if (!is_hungry) asked_.clear();
  }

  // ---- the owner

  // A rank without work waits for the owner to look. On any thread.
  bool is_called() const noexcept {
    if (!is_used()) return false;
    auto const& own = segments_.own();
    auto const wanted = own.wanted.load(sync::relaxed);
    return wanted != 0 && wanted != own.wanted_in_vain.load(sync::relaxed);
  }

  // True: call put() with as many tasks as an answer would bring, and then has_put().
  bool takes_request() noexcept {
    auto& own = segments_.own();
    auto const wanted = own.wanted.load(sync::relaxed);
    if (wanted == 0) return false;
    say(own.wanted_in_vain, wanted);
    if (wanted != run_) return false;
    say(own.wanted, 0);  // before put(): a thief that finds the queue empty again writes it again
    return true;
  }
  // False: the task is too large, or the queue is full.
  bool put(Task const& task) noexcept {
    return Descriptor::fits(task) && segments_.own().queue.put(Descriptor(task), run_);
  }
  void has_put(std::size_t tasks, bool has_more) noexcept {
    auto& own = segments_.own();
    say(own.has_more, has_more ? run_ : 0);
    if (tasks == 0)
      say(own.wanted, run_);
    else
      say(own.wanted_in_vain, 0);
  }

  // ---- the thief

  struct Stolen {
    std::array<Descriptor, most_from_queue> tasks;
    std::size_t count = 0;
  };
  Stolen take_back(Chunk const& chunk) noexcept { return take(segments_.own(), chunk); }
  // A thief that got something waits for no other rank any more.
  Stolen steal(int rank, Chunk const& chunk) noexcept {
    auto const stolen = take(segments_.at(rank), chunk);
    if (stolen.count > 0) asked_.clear();
    return stolen;
  }

  // The next step at a rank whose queue is empty, and which now knows that tasks are wanted.
  enum class Next {
    ask_by_message,  // it has tasks that fit no queue
    wait,            // it has work, and may put some of it there soon
    pass_on,         // it has no work either
  };
  Next ask(int rank, std::int64_t now_ns) {
    auto& segment = segments_.at(rank);
    bool const has_more = segment.has_more.load(sync::relaxed) == run_;
    bool const is_hungry = segment.hungry.load(sync::relaxed) == run_;
    if (!has_more && is_hungry) return Next::pass_on;
    say(segment.wanted, run_);
    if (std::none_of(asked_.begin(), asked_.end(),
                     [&](Asked const& a) { return a.rank == rank; })) {
      asked_.push_back(
          {rank, segment.looks.load(sync::relaxed), now_ns + policies_.rings.after_ns});
      asked_ns_ = now_ns;
    }
    return has_more ? Next::ask_by_message : Next::wait;
  }

  // A rank that has been asked and may have put something into its queue since.
  struct Asked {
    int rank;
    std::uint32_t looks;  // how often it had looked then
    std::int64_t ring_ns;
  };
  std::vector<Asked> const& asked() const noexcept { return asked_; }

  // The ranks to be rung now, since they do not look.
  std::vector<int> to_ring(std::int64_t now_ns) {
    std::vector<int> ranks;
    for (auto& asked : asked_) {
      if (now_ns < asked.ring_ns) continue;
      auto const& segment = segments_.at(asked.rank);
      auto const looks = segment.looks.load(sync::relaxed);
      bool const has_looked = std::exchange(asked.looks, looks) != looks;
      bool const is_hungry = segment.hungry.load(sync::relaxed) == run_;
      if (policy::rings(has_looked, is_hungry)) ranks.push_back(asked.rank);
      asked.ring_ns = now_ns + policy::next_ring_in_ns(has_looked, policies_.rings);
    }
    return ranks;
  }

  bool expects_tasks(std::int64_t now_ns) const noexcept {
    return !asked_.empty() && now_ns - asked_ns_ < policies_.soon_ns;
  }

 private:
  // A word is stored only when it changes: other ranks keep its cache line otherwise.
  static void say(SharedSegment::Word& word, std::uint32_t what) noexcept {
    if (word.load(sync::relaxed) != what) word.store(what, sync::relaxed);
  }
  Stolen take(SharedSegment& from, Chunk const& chunk) noexcept {
    Stolen stolen;
    if (from.queue.take(stolen.tasks, stolen.count, run_, chunk) != Take::taken) stolen.count = 0;
    return stolen;
  }

  HostSegments const segments_;
  Policies const policies_;
  std::uint32_t run_ = 0;
  std::vector<Asked> asked_;
  std::int64_t asked_ns_ = 0;
};

}  // namespace nigh::cluster
