// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spreads of all task loops of a program: the same fixed one, or what each loop finds best.

#include <algorithm>
#include <map>
#include <nigh/task_loop.hpp>

namespace workloads {

// `Loop` tells a program's loops apart. One thread uses it.
template <class Loop>
class Spreads {
 public:
  // active: workers at work, 0: all; of no account where the spread is automatic.
  Spreads(nigh::spread spread, int active) : spread_(spread), active_(active) {}

  nigh::task_loop_options of(Loop const& loop) {
    nigh::task_loop_options o;
    o.spread = spread_;
    o.active = active_;
    if (spread_.is_automatic()) o.site = &sites_[loop];
    return o;
  }

  bool hold() const {
    return std::all_of(sites_.begin(), sites_.end(),
                       [](auto const& site) { return site.second.is_holding(); });
  }
  int most_trials() const {
    int most = 0;
    for (auto const& [loop, site] : sites_) most = std::max(most, site.trials());
    return most;
  }

 private:
  nigh::spread spread_;
  int active_;
  std::map<Loop, nigh::spread_site> sites_;
};

}  // namespace workloads
