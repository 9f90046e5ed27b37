// SPDX-License-Identifier: Apache-2.0
#pragma once
// NestPlan: which cpus are whose, where a parallel region's threads (masters) begin regions of
// their own, with drones?
//
//   2 domains of 4, spread 2    parts  0 1 | 2 3 | 4 5 | 6 7    one each for 4 masters
//   3 masters, spread 2                0 1 | 2 3   | 5 6        the program has named their number

#include <algorithm>
#include <cstddef>
#include <vector>

#include "policy/spread/spread_search.hpp"
#include "policy/spread/team_plan.hpp"
#include "policy/spread/team_seats.hpp"

namespace nigh::policy {

struct NestPlan {
  struct Part {
    int begin = 0, size = 1;  // of the seats
    int threads = 1;          // for a region that the master begins, itself among them
    bool operator==(Part const&) const = default;
  };
  std::vector<int> seats;   // in hardware order: numbers of those that were given
  std::vector<Part> parts;  // [master]

  bool operator==(NestPlan const&) const = default;
};

// `masters`: 0, as many as there are teams. More than seats share them all, and have no drones.
inline NestPlan nest_plan(TeamSeats const& given, SpreadConfig const& config, int masters) {
  TeamPlan const teams(given, {config.spread, config.active});
  NestPlan plan;
  int const places = teams.places();
  for (int p = 0; p < places; ++p) plan.seats.push_back(teams.worker_at(p));
  auto const add = [&](int begin, int size) { plan.parts.push_back({begin, size, size}); };
  if (masters == 0)
    for (int t = 0; t < teams.teams(); ++t) add(teams.begin(t), teams.end(t) - teams.begin(t));
  else if (masters > places)
    plan.parts.assign(static_cast<std::size_t>(masters), {0, places, 1});
  else
    for (int m = 0; m < masters; ++m) {
      int const begin = m * places / masters, end = (m + 1) * places / masters;
      add(begin, std::min(end - begin, std::max(1, config.spread)));
    }
  return plan;
}

// What there is to choose where the program has named the number of masters.
inline SpreadSpace spread_space_of(int masters, SpreadSpace space) {
  int const all = space.actives.back(), most = std::max(1, (all + masters - 1) / masters);
  std::erase_if(space.spreads, [&](int s) { return s >= most; });
  space.spreads.push_back(most);
  space.actives = {all};
  return space;
}

}  // namespace nigh::policy
