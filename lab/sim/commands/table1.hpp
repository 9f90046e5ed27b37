// SPDX-License-Identifier: Apache-2.0
#pragma once
// The output of nigh sim table1: text and JSON lines.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/jacobi/fit.hpp"
#include "sim/jacobi/loop_sweep.hpp"
#include "sim/jacobi/table1.hpp"
#include "sim/machine.hpp"

namespace nigh::cli {

struct Table1Cells {
  sim::Table1Cell cell;
  std::vector<double> mlups;  // one a seed
};

struct LoopCell {
  sim::JacobiLoop what;
  std::optional<double> published;  // where the text says what it is as fast as
  std::vector<double> mlups;        // one a seed
};

struct LoopStudy {
  sim::Machine machine;
  int threads = 2;  // on a socket
  int layers = 60;
  std::vector<LoopCell> cells;
};

struct Table1Study {
  sim::Machine machine;
  bool is_the_papers = false;  // or one like it
  bool has_published = false;  // figures, for the paper ran the same on it
  std::uint64_t seed = 1;
  int seeds = 5, layers = 60, waiting = 256;
  std::vector<Table1Cells> table;
  std::vector<LoopStudy> loops;      // the machine's, then the uniform one's beside it
  std::vector<sim::Table1Fit> fits;  // the first to all cells, then without each; or none
};

std::string describe(Table1Study const& study);
std::string result_lines(Table1Study const& study);

}  // namespace nigh::cli
