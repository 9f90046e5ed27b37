// SPDX-License-Identifier: Apache-2.0
#pragma once
// The checked options of `nigh bench tasks`.

#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/results.hpp"
#include "bench/tasks/solver.hpp"

namespace bench {

struct TasksOptions {
  explicit TasksOptions(nigh::topology here) : machine(std::move(here)) {}

  nigh::topology machine;
  std::vector<int> cpus;  // as many as threads
  long tasks = 0;         // empty ones, in one sample
  int empty_repetitions = 0;
  int repetitions = 0;        // of each cell of the matrix
  double sample_seconds = 0;  // problems are solved again and again until a sample is that long
  bool warm_up = true;        // solve everything once before
  std::vector<Question> questions;
  bool quick = false;

  int threads() const noexcept { return static_cast<int>(cpus.size()); }
};

// Every problem by every runtime, with one thread and with several; all in turn.

struct Cell {
  Question question;
  std::string variant;  // a family, by its name
  int threads = 1;
  int times = 1;                // solutions in a sample
  std::vector<double> seconds;  // of one solution, for each sample
  bool verified = true;
  std::string absent;  // why there are no samples
};

// A question's cells in the order tables show them; the serial one first.
struct Row {
  Question question;
  std::uint64_t tasks = 0;  // when there is no cutoff; 0: not known
  std::vector<Cell> cells;

  Cell const& serial() const { return cells.front(); }
};

std::vector<Row> measure_matrix(TasksOptions const& options);

// Median over repetitions of time / serial time.
double ratio_to_serial(Row const& row, Cell const& cell);
// Shortest time / shortest serial time: what is left when others disturb most samples.
double ratio_of_minima(Row const& row, Cell const& cell);

std::string describe(std::vector<Row> const& rows, TasksOptions const& options);
std::vector<Result> results(std::vector<Row> const& rows);

// The paper's table of "Benchmark Characteristics" (Min, Iancu, Yelick 2011) for nigh: what the
// problems ask of a task runtime, and what became of it.

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

// The cost of an empty task from spawn to end, and the cpu that a live runtime uses with nothing to
// do.

// To be called before any other runtime lives: it also measures the process at rest.
std::vector<Result> measure_empty_tasks(TasksOptions const& options);

std::string describe_empty_tasks(std::vector<Result> const& results, TasksOptions const& options);

// The cost of one spawn and join, beside the least possible cost, in the same run.

std::vector<Result> measure_fib(TasksOptions const& options);
std::string describe_fib(std::vector<Result> const& results, TasksOptions const& options);

// How soon a second thread takes part: fork-joins after pauses, one steal, and what it costs to be
// that ready.

std::vector<Result> measure_latency(TasksOptions const& options);
std::string describe_latency(std::vector<Result> const& results);

// More threads than cpus: twice as many workers, another busy process,
// or both.

std::vector<Result> measure_oversubscribed(TasksOptions const& options);
std::string describe_oversubscribed(std::vector<Result> const& results,
                                    TasksOptions const& options);

}  // namespace bench
