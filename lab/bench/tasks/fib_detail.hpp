// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cost of one spawn and join, beside the least possible cost, in the same run.

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/tasks/options.hpp"

namespace bench {

std::vector<Result> measure_fib(TasksOptions const& options);
std::string describe_fib(std::vector<Result> const& results, TasksOptions const& options);

}  // namespace bench
