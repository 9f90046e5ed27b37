// SPDX-License-Identifier: Apache-2.0
#pragma once
// The paper's table of "Benchmark Characteristics" (Min, Iancu, Yelick 2011) for nigh: what the
// problems ask of a task runtime, and what became of it.

#include <string>
#include <vector>

#include "bench/tasks/matrix.hpp"

namespace bench {

struct Characteristics {
  Question question;
  long tasks = 0;          // made, as counted
  double task_us = 0;      // serial time per task
  double overhead_ns = 0;  // what nigh takes longer than that per task, on one worker
  long steals = 0,
       stolen = 0;  // visits to others' stacks that brought something; tasks they brought
  long failed_steals = 0;
  long serialized = 0;  // run inline, for the stack was full or by a cutoff
};

// Solves each once more, with counters on. Times are those of the matrix.
std::vector<Characteristics> measure_characteristics(std::vector<Row> const& rows,
                                                     TasksOptions const& options);
std::string describe(std::vector<Characteristics> const& all, TasksOptions const& options);
std::vector<Result> results(std::vector<Characteristics> const& all, TasksOptions const& options);

}  // namespace bench
