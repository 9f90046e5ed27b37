// SPDX-License-Identifier: Apache-2.0
#pragma once
// How soon a second thread takes part: fork-joins after pauses, one steal, and what it costs to be
// that ready.

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/tasks/options.hpp"

namespace bench {

std::vector<Result> measure_latency(TasksOptions const& options);
std::string describe_latency(std::vector<Result> const& results);

}  // namespace bench
