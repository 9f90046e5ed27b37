// SPDX-License-Identifier: Apache-2.0
#pragma once
// The experiments of Min, Iancu and Yelick, "Hierarchical work stealing on manycore clusters"
// (2011): whom thieves ask and how much they take, on 256 cores.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/steal/steal_run.hpp"

namespace nigh::sim {

struct HotslawWay {
  std::string name;
  StealRules rules;
};

// random+half, HVS+half, HVS with fixed numbers, HVS+HCS with the same.
std::vector<HotslawWay> hotslaw_ways();

// HVS+half and HVS+HCS, for the network below.
std::vector<HotslawWay> hotslaw_slow_network_ways();

// Each operation keeps the interfaces so many times as long. Half of many short queues is a small
// task or two, and fetching them costs all others their turns: what HCS then saves is more.
inline constexpr int hotslaw_slow_network = 9;

// As on the paper's eight cores: HVS, one task at a time.
HotslawWay hotslaw_smp_way();

inline constexpr std::array<int, 5> hotslaw_chunks{1, 2, 4, 8, 16};

// Published, on two sockets of four cores; 0: not the paper's. `serialized`: run inline because a
// queue was full.
struct HotslawBenchmark {
  char const* name;
  std::uint64_t smp_steals, tasks, serialized;

  double inline_share() const noexcept {
    return static_cast<double>(serialized) / static_cast<double>(tasks);
  }
};

// T1 is T1L, 25 times smaller.
inline constexpr std::array<HotslawBenchmark, 7> hotslaw_benchmarks{
    {{"fib", 95, 2692537, 258928},
     {"nqueens", 47, 306719, 129012},
     {"T1", 0, 0, 0},
     {"T1L", 485, 102181082, 93553030},
     {"T2L", 378, 96793510, 82249556},
     {"T3L", 46703, 111345631, 108983482},
     {"sparselu", 2320, 1430912, 1344733}}};

// Work stealing where nobody measured it: from a thousand cores to a million.

// The policies as they are, and what changes when one of their constants does.
struct ScaleWay {
  std::string name;
  StealRules rules;
  int most_attempts = 0;  // in a round at each level; 0: as policy::attempts_at says
};

// random+half, hvs+hcs; hvs+hcs/N with at most N attempts at a level, /20us with rests up to that
// instead of 1 ms.
std::vector<ScaleWay> scale_ways();

// The same machine, asked no more often than that at any level in one round.
StealMachine with_attempts(StealMachine machine, int most);

inline double efficiency(TaskForest const& forest, StealMachine const& machine,
                         StealOutcome const& outcome) noexcept {
  return static_cast<double>(forest.work(machine.spawn_ns.value_or(forest.spawn_ns))) /
         (static_cast<double>(machine.workers()) * static_cast<double>(outcome.makespan));
}

}  // namespace nigh::sim
