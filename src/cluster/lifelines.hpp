// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lifelines of a rank (policy/stealing/steal_order.hpp): those that it holds while it sleeps, and
// those that other ranks hold to it. A state machine: it returns ranks to be asked or fed, and
// sends nothing.
//
//   searching ──sleep(), after a round without luck──▶ asleep, asks nobody
//       ▲                                                │
//       └──── tasks come, by a lifeline or otherwise; ───┘
//             or the rank's own workers have had tasks meanwhile
//
// A rank asks for a lifeline once. The lifeline holds until tasks have come by it or the run is
// over.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "policy/stealing/steal_order.hpp"

namespace nigh::cluster {

class Lifelines {
 public:
  static constexpr int nobody = -1;

  Lifelines() = default;  // not in use

  // Lifelines lead through these ranks, in order; `self` is one of them. Existing lifelines hold as
  // before.
  void lead_through(std::vector<int> const& ranks, int self) {
    auto const before = std::exchange(own_, {});
    auto const at = std::find(ranks.begin(), ranks.end(), self) - ranks.begin();
    for (int const buddy :
         policy::lifelines(static_cast<int>(at), static_cast<int>(ranks.size()))) {
      int const to = ranks[static_cast<std::size_t>(buddy)];
      auto const had =
          std::find_if(before.begin(), before.end(), [&](Own o) { return o.to == to; });
      own_.push_back({to, had != before.end() && had->holds});
    }
    wake();
  }

  void begin_run() noexcept {
    for (auto& line : own_) line.holds = false;
    wake();
  }

  bool are_used() const noexcept { return !own_.empty(); }
  bool is_asleep() const noexcept { return asleep_; }
  void wake() noexcept { asleep_ = false; }

  // Returns the ranks to be asked for a lifeline.
  std::vector<int> sleep() {
    asleep_ = true;
    std::vector<int> to_ask;
    for (auto& line : own_)
      if (!std::exchange(line.holds, true)) to_ask.push_back(line.to);
    return to_ask;
  }

  // Tasks have come by the lifeline to that rank.
  void is_used(int by) noexcept {
    for (auto& line : own_)
      if (line.to == by) line.holds = false;
    wake();
  }

  // A thief holds a lifeline to this rank from now on, in that run.
  void hang(int thief, std::uint32_t run) {
    let_go(thief);
    hanging_.push_back({thief, run});
  }
  void let_go(int thief) {
    std::erase_if(hanging_, [&](Hanging const& h) { return h.thief == thief; });
  }
  // The thief that has waited longest in this run.
  int first_hanging(std::uint32_t run) const noexcept {
    for (auto const& h : hanging_)
      if (h.run == run) return h.thief;
    return nobody;
  }

 private:
  struct Own {
    int to;
    bool holds;
  };
  struct Hanging {
    int thief;
    std::uint32_t run;
  };
  std::vector<Own> own_;
  std::deque<Hanging> hanging_;  // one a rank
  bool asleep_ = false;
};

}  // namespace nigh::cluster
