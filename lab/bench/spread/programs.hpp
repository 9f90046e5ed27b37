// SPDX-License-Identifier: Apache-2.0
#pragma once
// The project's other programs with task loops: each by every spread, and by what its loops choose.

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/spread/options.hpp"

namespace bench {

struct ProgramCell {
  int spread = 0, active = 0;   // 0: its loops choose
  std::vector<double> seconds;  // one for each repetition
  bool verified = true;
  // Of one that chooses: runs until no loop tried anything any more, and the most trials of a loop.
  bool holds = true;
  int runs_to_hold = 0, trials = 0;

  bool chooses() const noexcept { return spread == 0; }
};

struct ProgramGroup {
  std::string name, size;
  std::vector<ProgramCell> cells;  // spread 1 on all threads first, what chooses last
};

struct ProgramStudy {
  std::vector<ProgramGroup> groups;
};

ProgramStudy study_programs(SpreadOptions const& options);
std::string describe(ProgramStudy const& study, SpreadOptions const& options);
std::vector<Result> results(ProgramStudy const& study, SpreadOptions const& options);

}  // namespace bench
