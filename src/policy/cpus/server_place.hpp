// SPDX-License-Identifier: Apache-2.0
#pragma once
// ServerPlace: on which cpu does a server sleep that programs wake by a message, and that answers
// within microseconds?
//
// Beside the asking thread, on the cpu that the request came from: the system then switches from
// the program to the server and back, and need not wake another cpu, which takes longer than all
// else. Or anywhere, so that the system finds a cpu each time. That is better when several threads
// ask, and no worse when requests are rare.
//
//   anywhere ──a request──▶ beside
//      ▲                      │  a message of another program, a request from another cpu,
//      ├──────────────────────┤  its program's end, or no request between two looks
//      └──────────────────────┘  late_in_a_row, or refused: for a second, two, four, ...
//
// Several programs that ask in turn would have it move all the time. So it may move a few times at
// once, and once per move_every_us in the long run.
//
// A request is late when its program has given up waiting awake before the request was read: the
// server did not get the cpu at once.

#include <algorithm>
#include <cstdint>

namespace nigh::policy {

struct ServerPlacePolicy {
  std::int64_t move_every_us = 100'000;
  int moves_at_once = 4;
  int late_in_a_row = 3;  // one may be late because its cpu was interrupted
  std::int64_t shortest_pause_us = 1'000'000, longest_pause_us = 64'000'000;
};

class ServerPlace {
 public:
  using Time = std::int64_t;  // microseconds
  using Who = std::uint64_t;
  static constexpr int anywhere = -1;

  constexpr explicit ServerPlace(ServerPlacePolicy policy = {}) noexcept : policy_(policy) {}

  constexpr int cpu() const noexcept { return cpu_; }

  // A request from that cpu; `anywhere`: from an unknown one.
  constexpr void ask(Who who, int cpu, bool is_late, Time now) noexcept {
    if (cpu_ == anywhere) {
      if (cpu != anywhere && may_move(now)) move(who, cpu, now);
      return;
    }
    if (who != who_ || cpu != cpu_) return leave();
    was_asked_ = true;
    if (!is_late) return late_ = 0, pause_ = 0, void();
    if (++late_ >= policy_.late_in_a_row) refuse(now);
  }
  // Any other message.
  constexpr void hear(Who who) noexcept {
    if (who != who_) leave();
  }
  // Called now and then.
  constexpr void look() noexcept {
    if (!was_asked_) leave();
    was_asked_ = false;
  }
  // The system does not let the server be there, or is too slow.
  constexpr void refuse(Time now) noexcept {
    pause_ = std::clamp(2 * pause_, policy_.shortest_pause_us, policy_.longest_pause_us);
    leave();
    not_before_ = now + pause_;
  }
  // Some program ends, or another event after which the server should be anywhere.
  constexpr void leave() noexcept { cpu_ = anywhere; }

 private:
  constexpr bool may_move(Time now) const noexcept {
    return not_before_ <= now &&
           moves_paid_ <= now + (policy_.moves_at_once - 1) * policy_.move_every_us;
  }
  constexpr void move(Who who, int cpu, Time now) noexcept {
    moves_paid_ = std::max(moves_paid_, now) + policy_.move_every_us;
    who_ = who, cpu_ = cpu, late_ = 0, was_asked_ = true;
  }

  ServerPlacePolicy policy_;
  int cpu_ = anywhere;
  Who who_ = 0;
  Time moves_paid_ = 0;  // the time by which all moves are paid for
  Time not_before_ = 0;
  Time pause_ = 0;
  int late_ = 0;
  bool was_asked_ = false;
};

}  // namespace nigh::policy
