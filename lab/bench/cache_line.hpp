// SPDX-License-Identifier: Apache-2.0
#pragma once
// The unit of all communication between cores.

#include <vector>

namespace bench {

// Nanoseconds for a cache line to go from one of two cpus to the other and back; each sample is the
// mean of 100 round trips. Empty when there is only one cpu.
std::vector<double> time_cache_line(std::vector<int> const& cpus, int samples);

}  // namespace bench
