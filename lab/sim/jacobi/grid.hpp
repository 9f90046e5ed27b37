// SPDX-License-Identifier: Apache-2.0
#pragma once
// The grid of Wittmann and Hager (2009): 600^3 sites in blocks of 600 x 10 x 10, 60 along k
// (layers) and 60 along j (columns).

#include <cstddef>
#include <vector>

#include "sim/loops/loop_run.hpp"
#include "sim/machine.hpp"

namespace nigh::sim::jacobi {

inline constexpr int columns = 60;
inline constexpr double all_updates = 600.0 * 600 * 600;
inline constexpr double bytes = 24;      // of an update
inline constexpr double jitter = 0.005;  // of a block's work, assumed

// The domain of each layer when the team's threads first touch it in a loop with this schedule.
inline std::vector<int> first_touched(schedule_kind schedule, int layers, Team const& team,
                                      topology const& machine) {
  std::vector<int> homes(static_cast<std::size_t>(layers), 0);
  Random nobody_draws(0);
  LoopRun loop(schedule, 1, homes.size(), team);
  for (int t = 0; t < team.size(); ++t) {
    int const cpu =
        machine.cpus()[static_cast<std::size_t>(team.cpus[static_cast<std::size_t>(t)])];
    while (auto const layer = loop.next(t, nobody_draws))
      homes[*layer] = machine.domain_of_cpu(cpu);
  }
  return homes;
}

}  // namespace nigh::sim::jacobi
