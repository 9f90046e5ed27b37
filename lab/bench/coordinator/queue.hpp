// SPDX-License-Identifier: Apache-2.0
#pragma once
// What does a message cost the coordinator while others' requests wait, from ten to 16,000 of them?
// In the state machine itself: sockets cost the same whatever waits.

#include <string>
#include <vector>

#include "bench/results.hpp"

namespace bench {

struct QueueOptions {
  long repetitions = 5;
  long messages = 20'000;  // of each kind, in each repetition
};

struct QueueStudy {
  std::vector<Result> results;
};

QueueStudy study_queue(QueueOptions const& options);
std::string describe(QueueStudy const& study);

}  // namespace bench
