// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a rank's lifelines are (policy/lifelines.hpp): those that it holds on to while it sleeps,
// and those by which others hang on it.
//
//   searching ──a round in vain──▶ asleep, asks nobody
//       ▲                            │ tasks come, by a lifeline or otherwise; or its own
//       └────────────────────────────┘ workers have had something to do meanwhile
//
// A lifeline is asked for once, and holds until tasks have come by it or the run is over.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace nigh::cluster {

class Lifelines {
 public:
  // None: those are not in use.
  explicit Lifelines(std::vector<int> buddies) {
    for (int const b : buddies) own_.push_back({b, false});
  }

  void begin() {
    for (auto& line : own_) line.holds = false;
    wake();
  }

  // Others are lost: these are left. Lifelines to them hold as they did.
  void change_to(std::vector<int> const& buddies) {
    auto const before = std::exchange(own_, {});
    for (int const b : buddies) {
      auto const had = std::find_if(before.begin(), before.end(), [&](Own o) { return o.to == b; });
      own_.push_back({b, had != before.end() && had->holds});
    }
    wake();
  }

  bool are_used() const noexcept { return !own_.empty(); }
  bool is_asleep() const noexcept { return asleep_; }
  void wake() noexcept { asleep_ = false; }

  // Returns those that are to be asked for a lifeline.
  std::vector<int> sleep() {
    asleep_ = true;
    std::vector<int> to_ask;
    for (auto& line : own_)
      if (!std::exchange(line.holds, true)) to_ask.push_back(line.to);
    return to_ask;
  }

  // Tasks have come by the one from there.
  void used(int by) {
    for (auto& line : own_)
      if (line.to == by) line.holds = false;
    wake();
  }

  // Somebody hangs on us from now on, in that run.
  void hang(int thief, std::uint32_t run) {
    let_go(thief);
    hanging_.push_back({thief, run});
  }
  void let_go(int thief) {
    std::erase_if(hanging_, [&](Hanging const& h) { return h.thief == thief; });
  }
  // Who has waited longest in this run; -1: nobody.
  int first_hanging(std::uint32_t run) const {
    for (auto const& h : hanging_)
      if (h.run == run) return h.thief;
    return -1;
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
