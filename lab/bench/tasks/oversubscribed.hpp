// SPDX-License-Identifier: Apache-2.0
#pragma once
// More threads than cpus: twice as many workers, another busy process,
// or both.

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/tasks/options.hpp"

namespace bench {

std::vector<Result> measure_oversubscribed(TasksOptions const& options);
std::string describe_oversubscribed(std::vector<Result> const& results,
                                    TasksOptions const& options);

}  // namespace bench
