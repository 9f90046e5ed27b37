// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rendezvous by several runtimes side by side, after pauses of several lengths.

#include <functional>
#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/tasks/rendezvous.hpp"

namespace bench {

inline constexpr double rendezvous_pauses_us[] = {0, 20, 900, 1900, 20'000};

struct Way {
  std::string name, absent;  // why; empty: it is there
  std::function<std::vector<double>(double pause_us, int count)> time;
};

// One result for each way and pause, in this order; rounds are interleaved.
std::vector<Result> time_ways(std::string const& bench, std::vector<Way> const& list, bool quick);

// A row for each way, us: median (min).
std::string rendezvous_table(std::vector<Result> const& results);

}  // namespace bench
