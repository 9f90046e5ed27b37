// SPDX-License-Identifier: Apache-2.0
#pragma once
// A steal between two ranks of one host, through the memory that they share: one visit to a queue
// that the other rank has just filled. It leaves out the time before, until the owner notices that
// tasks are wanted, and the time after, when they run.

#include <vector>

namespace bench {

// Medians of rounds, in us, on rank 0 of two, with what reading the clock takes; empty where the
// two share no memory. Collective; the threads that call are on cpus of their own from then on.
std::vector<double> window_steals(int rounds, int steals_a_round, int tasks);

}  // namespace bench
