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

struct HotslawBenchmark {
  char const* name;
  std::uint64_t smp_steals;  // published, on two sockets of four cores; 0: not the paper's
};

// T1 is T1L, 25 times smaller.
inline constexpr std::array<HotslawBenchmark, 7> hotslaw_benchmarks{{{"fib", 95},
                                                                     {"nqueens", 47},
                                                                     {"T1", 0},
                                                                     {"T1L", 485},
                                                                     {"T2L", 378},
                                                                     {"T3L", 46703},
                                                                     {"sparselu", 2320}}};

}  // namespace nigh::sim
