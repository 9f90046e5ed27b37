// SPDX-License-Identifier: Apache-2.0
#pragma once
// Programs as the paper on topology-aware OpenMP process scheduling ran them: seven of the NAS
// Parallel Benchmarks and two kernels, each a sequence of serial parts and parallel regions that is
// gone through round by round.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policy/cpus/thread_count.hpp"
#include "sim/machine.hpp"

namespace nigh::sim {

// A region of `work` on n threads: the leader does `serial` of it alone, each thread 1/n of the
// rest, and each thread that takes part costs `per_thread` of the work for meeting the others.
struct RegionProfile {
  std::string name;
  double work_s = 0;  // on one core with its memory near, in all rounds together
  double serial = 0;
  double per_thread = 0;
  double memory = 0;    // part of the time, on one core, in which it waits for memory
  double exchange = 0;  // of its memory traffic, what other threads have written
  int entries = 1;      // how often it is entered, in all rounds together
};

struct ProgramProfile {
  std::string name;
  double between_s = 0;  // serial work before each round
  int rounds = 1;
  std::vector<RegionProfile> regions;

  double work_s() const noexcept;
};

// All programs and sizes that the paper's slide 7 names.
std::vector<ProgramProfile> const& paper_programs();

// So many of them at random, as indices; each is taken once before one is taken again.
std::vector<int> random_programs(int count, std::uint64_t seed);

// How many threads a region can use on a machine, by running it there alone with each number of
// them: what the paper's authors measured beforehand, and what a program tells the coordinator.

// Seconds of all entries, for 1, 2, ... threads, next to each other and with their data near.
std::vector<double> seconds_by_threads(Machine const& machine, policy::CoreMap const& map,
                                       RegionProfile const& region);

// Optimal: the most threads with a speedup within 20% of ideal. Maximum: the fewest whose time is
// within 1% of the shortest.
policy::ThreadDemand demand_of(std::vector<double> const& seconds);

}  // namespace nigh::sim
