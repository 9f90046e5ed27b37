// SPDX-License-Identifier: Apache-2.0
// Static temporal blocking, as codes have it that do not know of tasks.
#include <omp.h>

#include <cstdint>

#include "bench/temporal/contestants.hpp"
#include "jacobi3d/tile_pieces.hpp"
#include "policy/tiles/time_tiles.hpp"
#include "policy/tiles/wavefront.hpp"

namespace bench {

namespace {

class StaticTiles : public jacobi3d::Variant {
 public:
  StaticTiles(jacobi3d::Team const& team, int width, int rows, bool dynamic)
      : team_(team), width_(width), rows_(rows > 0 ? rows : 4), dynamic_(dynamic) {
#pragma omp parallel num_threads(team_.threads())
    team_.pin_thread(omp_get_thread_num());
  }

  int most_steps() const override { return 1 << 12; }
  bool ends_in_place(int steps) const override { return steps % 2 == 0; }

  void sweep(jacobi3d::Sweep const& s) override {
    auto const& size = s.plan->grid.interior;
    nigh::policy::TimeTiles const tiles(size.k, 1, false, width_, s.steps);
    auto const columns = tiles.columns();
    auto const run_at = [&](std::int64_t row, std::int64_t column) {
      run(s, tiles, tiles.tile(static_cast<std::size_t>(row * columns + column)));
    };
#pragma omp parallel num_threads(team_.threads())
    for (std::int64_t row = 0; row < tiles.rows(); ++row) {
      if (dynamic_) {
#pragma omp for schedule(dynamic)
        for (std::int64_t column = 0; column < columns; ++column) run_at(row, column);
      } else {
#pragma omp for schedule(static)
        for (std::int64_t column = 0; column < columns; ++column) run_at(row, column);
      }
    }
  }

 private:
  void run(jacobi3d::Sweep const& s, nigh::policy::TimeTiles const& tiles,
           nigh::policy::Tile const& tile) const {
    auto const& size = s.plan->grid.interior;
    auto const diamond = tiles.diamond(tile);
    auto const steps = diamond.steps();
    if (steps.empty()) return;
    jacobi3d::TilePieces pieces(s);
    nigh::policy::for_each_row_piece(
        static_cast<std::size_t>(size.j), 1, false, static_cast<std::size_t>(rows_),
        static_cast<std::size_t>(steps.end - steps.begin),
        [&](std::size_t n, std::size_t row_begin, std::size_t row_end) {
          auto const step = steps.begin + static_cast<std::int64_t>(n);
          auto const planes = diamond.points(step);
          if (planes.empty()) return;
          pieces.add(step, {{0, static_cast<std::ptrdiff_t>(row_begin), planes.begin},
                            {size.i, static_cast<std::ptrdiff_t>(row_end), planes.end}});
        });
    pieces.run();
  }

  jacobi3d::Team team_;
  int width_, rows_;
  bool dynamic_;
};

}  // namespace

std::unique_ptr<jacobi3d::Variant> make_static_tiles(jacobi3d::Team const& team, int width,
                                                     int rows, bool dynamic) {
  return std::make_unique<StaticTiles>(team, width, rows, dynamic);
}

}  // namespace bench
