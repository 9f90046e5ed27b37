// SPDX-License-Identifier: Apache-2.0
#pragma once
// Other stencils: sweeps beside tiles of the width that is chosen, and of others.

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/temporal/options.hpp"
#include "stencils/stencils.hpp"

namespace bench {

struct ProblemTiles {
  std::size_t asked = 0;  // planes; 0: the library chooses
  double of_chosen = 0;   // what is asked for as soon as that is known; 0: `asked` is as it is
  nigh::stencil_plan plan = {};    // sweeps, where the grid has no room for such tiles
  std::vector<double> rates = {};  // million updates a second
};

struct ProblemCell {
  stencils::Problem problem;
  std::size_t side = 0;
  std::vector<double> sweeps;       // million updates a second
  std::vector<ProblemTiles> tiles;  // first those that are chosen
  bool verified = true;
};

std::vector<ProblemCell> study_problems(TemporalOptions const& options);
std::string describe(std::vector<ProblemCell> const& cells, TemporalOptions const& options);
std::vector<Result> results(std::vector<ProblemCell> const& cells, TemporalOptions const& options);

}  // namespace bench
