// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/scalability.hpp"

#include <algorithm>
#include <cstddef>

#include "policy/cpus/core_allocation.hpp"
#include "sim/hosts/memory_system.hpp"
#include "sim/simulation.hpp"

namespace nigh::sim {

namespace {

struct Nobody {  // waits for the flows
  void happen(Event const&) {}
  void ended(FlowId) {}
};

double seconds_with(Machine const& machine, policy::CoreMap const& map, RegionProfile const& region,
                    int threads) {
  auto const team = policy::decide(map, {.how = policy::CoreAllocation::nearest},
                                   policy::PositionSet::all(map.size()), {{threads, threads}, 0});
  Simulation simulation;
  MemorySystem memory(machine, map, simulation.network);
  MemoryNeed const need{region.memory, region.exchange};
  auto const& cpus = team.positions;
  auto const n = cpus.size();
  auto const run_to_end = [&] {
    Nobody nobody;
    while (simulation.step(nobody)) {
    }
  };
  auto const domain = [&](std::size_t thread) { return memory.domain_of(cpus[thread % n]); };
  memory.start(simulation.now(), region.work_s * region.serial, {cpus[0], domain(0), -1}, need);
  run_to_end();
  for (std::size_t t = 0; t < n; ++t)
    memory.start(simulation.now(), region.work_s * (1 - region.serial) / static_cast<double>(n),
                 {cpus[t], domain(t), n > 1 ? domain(t + 1) : -1}, need);
  run_to_end();
  return seconds(simulation.now()) + threads * (region.work_s * region.per_thread +
                                                region.entries * machine.barrier_ns.value * 1e-9);
}

}  // namespace

std::vector<double> seconds_by_threads(Machine const& machine, policy::CoreMap const& map,
                                       RegionProfile const& region) {
  std::vector<double> all;
  for (int n = 1; n <= map.size(); ++n) all.push_back(seconds_with(machine, map, region, n));
  return all;
}

policy::ThreadDemand demand_of(std::vector<double> const& all) {
  constexpr double near_ideal = 0.8, some = 1.01;
  int const shortest = static_cast<int>(std::min_element(all.begin(), all.end()) - all.begin());
  policy::ThreadDemand demand;
  for (int n = shortest + 1; n >= 1; --n)
    if (all[static_cast<std::size_t>(n - 1)] <= some * all[static_cast<std::size_t>(shortest)])
      demand.maximum = n;
  for (int n = 1; n <= demand.maximum; ++n)
    if (all[0] >= near_ideal * n * all[static_cast<std::size_t>(n - 1)]) demand.optimal = n;
  return demand;
}

}  // namespace nigh::sim
