// SPDX-License-Identifier: Apache-2.0
#pragma once
// The time until a task has been stolen.

#include <nigh/runtime.hpp>
#include <vector>

namespace bench {

// Nanoseconds from a fork on one of two workers until it sees that the other one has begun the
// task; 1e9 when nobody has come within a second.
std::vector<double> time_steals(nigh::runtime& runtime, int samples);

}  // namespace bench
