// SPDX-License-Identifier: Apache-2.0
#pragma once
// Other stencils: sweeps beside tiles of the width that is chosen.

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/temporal/options.hpp"
#include "stencils/stencils.hpp"

namespace bench {

struct ProblemCell {
  stencils::Problem problem;
  std::size_t side = 0;
  nigh::stencil_plan plan;
  std::vector<double> sweeps, tiles;  // million updates a second
  bool verified = true;
};

std::vector<ProblemCell> study_problems(TemporalOptions const& options);
std::string describe(std::vector<ProblemCell> const& cells, TemporalOptions const& options);
std::vector<Result> results(std::vector<ProblemCell> const& cells, TemporalOptions const& options);

}  // namespace bench
