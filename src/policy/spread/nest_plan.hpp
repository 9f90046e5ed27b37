// SPDX-License-Identifier: Apache-2.0
#pragma once
// NestPlan: which cpus belong to which thread of a parallel region, where these threads (leaders)
// begin regions of their own?
//
//   2 domains of 4, spread 2    parts  0 1 | 2 3 | 4 5 | 6 7    one each for 4 leaders
//   3 leaders, spread 2                0 1 | 2 3   | 5 6        the program has named their number

#include <algorithm>
#include <cstddef>
#include <vector>

#include "policy/spread/team_plan.hpp"
#include "policy/spread/spread_search.hpp"

namespace nigh::policy {

struct NestPlan {
  struct Part {
    int begin = 0, size = 1;  // in `workers`
    int threads = 1;          // for a region that the leader begins, itself among them
    bool operator==(Part const&) const = default;
  };
  std::vector<int> workers;  // in hardware order: numbers of those that were given
  std::vector<Part> parts;   // [leader]

  bool operator==(NestPlan const&) const = default;
};

// `leaders`: 0, as many as there are teams. More leaders than workers share all workers, and each
// has no other thread.
inline NestPlan nest_plan(OrderedWorkers const& given, SpreadConfig const& config, int leaders) {
  TeamPlan const teams(given, {config.spread, config.active});
  NestPlan plan;
  int const places = teams.places();
  for (int p = 0; p < places; ++p) plan.workers.push_back(teams.worker_at(p));
  auto const add = [&](int begin, int size) { plan.parts.push_back({begin, size, size}); };
  if (leaders == 0)
    for (int t = 0; t < teams.teams(); ++t) add(teams.begin(t), teams.end(t) - teams.begin(t));
  else if (leaders > places)
    plan.parts.assign(static_cast<std::size_t>(leaders), {0, places, 1});
  else
    for (int m = 0; m < leaders; ++m) {
      int const begin = m * places / leaders, end = (m + 1) * places / leaders;
      add(begin, std::min(end - begin, std::max(1, config.spread)));
    }
  return plan;
}

// The space of choices where the program has named the number of leaders.
inline SpreadSpace spread_space_of(int leaders, SpreadSpace space) {
  int const all = space.actives.back(), most = std::max(1, (all + leaders - 1) / leaders);
  std::erase_if(space.spreads, [&](int s) { return s >= most; });
  space.spreads.push_back(most);
  space.actives = {all};
  return space;
}

}  // namespace nigh::policy
