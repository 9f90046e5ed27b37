// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cost of an empty task from spawn to end, and the cpu that a live runtime uses with nothing to
// do.

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/tasks/options.hpp"

namespace bench {

// To be called before any other runtime lives: it also measures the process at rest.
std::vector<Result> measure_empty_tasks(TasksOptions const& options);

std::string describe_empty_tasks(std::vector<Result> const& results, TasksOptions const& options);

}  // namespace bench
