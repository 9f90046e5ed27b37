// SPDX-License-Identifier: Apache-2.0
#pragma once
// SpreadSpace of a machine: which spreads, numbers of active workers and grains are worth a trial
// there?

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "policy/spread/team_plan.hpp"
#include "policy/spread/spread_search.hpp"

namespace nigh::policy {

// The spreads to try, ascending: divisors of a domain's workers, then of the domains; sizes between
// two that are far apart, though they divide nothing; only some of many that are close.
//
//   2 domains of 14    1 2 4 7 14 28
//   1 domain of 13     1 3 7 13
//   8 domains of 24    1 2 3 6 12 24 48 96 192
inline std::vector<int> spreads_to_try(int domains, int workers_a_domain) {
  constexpr double close = 1.5, far = 3;
  std::vector<int> all{1};
  auto const climb = [&](int unit, int whole) {
    int const begin = all.back();
    std::vector<int> sizes;
    for (int n = 1; n <= whole; ++n)
      if (whole % n == 0 && unit * n > begin) sizes.push_back(unit * n);
    for (int size : sizes) {
      while (size > far * all.back()) {
        double const gap = static_cast<double>(size) / all.back();
        double const step = std::pow(gap, 1 / std::ceil(std::log(gap) / std::log(far)));
        int const parts = static_cast<int>(std::lround(unit * whole / (step * all.back())));
        int const between = unit * ((whole + parts - 1) / std::max(1, parts));
        if (between <= all.back() || between >= size) break;
        all.push_back(between);
      }
      bool const is_top = size == sizes.back();
      if (is_top && all.size() > 1 && size < close * all.back()) all.pop_back();
      if (is_top || size >= close * all.back()) all.push_back(size);
    }
  };
  climb(1, workers_a_domain);
  climb(workers_a_domain, domains);
  return all;
}

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
