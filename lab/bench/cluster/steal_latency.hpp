// SPDX-License-Identifier: Apache-2.0
#pragma once
// A steal by messages, beside the least it could cost: two messages of the same sizes by MPI alone.

#include <vector>

namespace bench {

// Medians of rounds of each, in us, one and the other in turn; on rank 0 of two. A steal brings so
// many tasks of 64 bytes. Collective; the threads that call are on cpus of their own from then on.
struct StealLatency {
  std::vector<double> ping_pong, steal;
};
StealLatency steal_latency(int rounds, int steals_a_round, int tasks);

}  // namespace bench
