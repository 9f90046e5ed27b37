// SPDX-License-Identifier: Apache-2.0
#pragma once
// SpreadSpace of a machine: which spreads, numbers of active workers and grains are worth a trial
// there?

#include <algorithm>
#include <utility>
#include <vector>

#include "policy/spread/ordered_workers.hpp"
#include "policy/spread/spread_search.hpp"
#include "policy/spread/spread_teams.hpp"

namespace nigh::policy {

// Numbers of workers to try: all, one per core, and fewer cores.
inline std::vector<int> actives_to_try(int cores, int workers) {
  std::vector<int> all{workers, cores};
  for (int quarters = 3; quarters > 0; --quarters) all.push_back(std::max(1, cores * quarters / 4));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

inline SpreadSpace spread_space(OrderedWorkers const& ordered, int workers, bool fewer,
                                std::vector<int> grains, int grain) {
  SpreadSpace space;
  space.spreads = spreads_to_try(ordered.domains(), ordered.largest_domain());
  std::erase_if(space.spreads, [&](int s) { return s >= workers; });
  space.spreads.push_back(workers);
  space.actives =
      fewer ? actives_to_try(std::min(ordered.cores(), workers), workers) : std::vector{workers};
  grains.push_back(grain);
  std::sort(grains.begin(), grains.end());
  grains.erase(std::unique(grains.begin(), grains.end()), grains.end());
  space.grains = std::move(grains);
  return space;
}

inline bool has(SpreadSpace const& space, SpreadConfig const& config) {
  auto const in = [](std::vector<int> const& values, int value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  return in(space.spreads, config.spread) && in(space.actives, config.active) &&
         in(space.grains, config.grain) && config.spread <= config.active;
}

}  // namespace nigh::policy
