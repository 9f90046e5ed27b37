// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many threads a region can use on a machine, by running it there alone with each number of
// them: what the paper's authors measured beforehand, and what a program tells the coordinator.

#include <vector>

#include "policy/cpus/thread_count.hpp"
#include "sim/hosts/programs.hpp"
#include "sim/machine.hpp"

namespace nigh::sim {

// Seconds of all entries, for 1, 2, ... threads, next to each other and with their data near.
std::vector<double> seconds_by_threads(Machine const& machine, policy::CoreMap const& map,
                                       RegionProfile const& region);

// Optimal: the most threads with a speedup within 20% of ideal. Maximum: the fewest whose time is
// within 1% of the shortest.
policy::ThreadDemand demand_of(std::vector<double> const& seconds);

}  // namespace nigh::sim
