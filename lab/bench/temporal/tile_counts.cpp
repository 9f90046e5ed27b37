// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/tile_counts.hpp"

#include <nigh/array.hpp>

#include "policy/tiles/time_tiles.hpp"

namespace bench {

namespace {

// -1: of several domains.
int domain_that_ran(nigh::policy::Diamond const& tile, std::int64_t planes,
                    std::vector<std::int16_t> const& wrote_in) {
  auto const steps = tile.steps();
  int domain = -1;
  bool is_first = true;
  for (auto step = steps.begin; step < steps.end; ++step) {
    auto const points = tile.points(step);
    for (auto plane = points.begin; plane < points.end; ++plane) {
      int const d = wrote_in[static_cast<std::size_t>((step - 1) * planes + plane)];
      if (!is_first && d != domain) return -1;
      domain = d;
      is_first = false;
    }
  }
  return domain;
}

}  // namespace

BlockCounts count_tiles(Problem& problem, int width, int steps, nigh::topology const& machine,
                        std::vector<std::int16_t> const& wrote_in) {
  auto const& grid = problem.plan().grid;
  nigh::policy::TimeTiles const tiles(grid.interior.k, 1, false, width, steps);
  BlockCounts counts;
  for (std::size_t n = 0; n < tiles.numbers(); ++n) {
    auto const tile = tiles.tile(n);
    auto const diamond = tiles.diamond(tile);
    if (diamond.empty()) continue;
    auto const middle = grid.at(grid.interior.i / 2, grid.interior.j / 2, tiles.middle(tile));
    int const home = nigh::domain_of(problem.first() + middle, machine);
    int const ran = domain_that_ran(diamond, grid.interior.k, wrote_in);
    ++(home < 0 || ran < 0 ? counts.unknown : home == ran ? counts.local : counts.remote);
  }
  return counts;
}

}  // namespace bench
