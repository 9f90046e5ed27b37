// SPDX-License-Identifier: Apache-2.0
#pragma once
// How soon a rank answers whose only worker is in the midst of tasks of a known length.

#include <vector>

namespace bench {

// In us, one for each request of rank 1 that brought a task: until rank 0 had the request before it
// (none where the two have no clock in common), and until rank 1 had the answer. On rank 0.
struct BusyVictim {
  std::vector<double> noticed, answered;
};
// Collective; between ranks 0 and 1.
BusyVictim busy_victim(double task_us, int answers);

}  // namespace bench
