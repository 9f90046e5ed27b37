// SPDX-License-Identifier: Apache-2.0
#pragma once
// The time to enter and leave a parallel region: alone, with the shim, with a lease that is
// kept, with a message for each; beside a message to a process that does nothing else, and beside
// waking one, which no message to a daemon that sleeps can do without.

#include <string>
#include <vector>

#include "bench/results.hpp"

namespace bench {

struct OverheadOptions {
  long repetitions = 5;
  long regions = 1'000'000;  // in a row
  long messages = 900;       // and other things that take a process that sleeps
  long pause_us = 200;       // before each of these, for the daemon to fall asleep
};

struct OverheadStudy {
  OverheadOptions options;
  std::vector<Result> results;
};

OverheadStudy study_overhead(OverheadOptions const& options);
std::string describe(OverheadStudy const& study);

}  // namespace bench
