// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every problem by every runtime, with one thread and with several; all in turn.

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/tasks/options.hpp"

namespace bench {

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

}  // namespace bench
