// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ways to make many time steps, as variants of the solver.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/temporal/options.hpp"
#include "jacobi3d/variant.hpp"

namespace bench {

struct Contestant {
  std::string name;
  int width = 0;  // of its tiles; 0: sweeps, or chosen
  bool tiles = false;
  std::function<std::unique_ptr<jacobi3d::Variant>(jacobi3d::Team const&)> make;  // null: absent
  std::string why_absent;
};

std::vector<Contestant> contestants(TemporalOptions const& options);

// One by its name without a width, for a run alone: nigh/temporal, openmp/temporal and
// openmp/temporal-dynamic. Of options.widths it has the first, nigh without any a width that is
// chosen. UsageError for another name, one that is absent, or no width.
Contestant tiles_alone(TemporalOptions const& options);

// openmp/temporal: the same tiles as nigh's, row by row, `omp for` over those of a row, and a
// barrier (static temporal blocking). Null without OpenMP.
std::unique_ptr<jacobi3d::Variant> make_static_tiles(jacobi3d::Team const& team, int width,
                                                     int rows, bool dynamic);

}  // namespace bench
