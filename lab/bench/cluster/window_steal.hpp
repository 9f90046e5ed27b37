// SPDX-License-Identifier: Apache-2.0
#pragma once
// A steal between two ranks of one host, through the memory that they share: one visit to a shelf
// that the other rank has just filled. Without what comes before, noticing that tasks are wanted,
// and after, running them.

#include <vector>

namespace bench {

// Medians of rounds, in us, on rank 0 of two, with what reading the clock takes; empty where the
// two share no memory. Collective; the threads that call are on cpus of their own from then on.
std::vector<double> window_steals(int rounds, int steals_a_round, int tasks);

}  // namespace bench
