// SPDX-License-Identifier: Apache-2.0
// Static temporal blocking, as codes have it that do not know of tasks.

#include <cstdint>
#include <string_view>

#include "bench/options.hpp"
#include "bench/temporal/study.hpp"
#include "jacobi3d/tile_pieces.hpp"
#include "jacobi3d/variant.hpp"
#include "policy/tiles/time_tiles.hpp"

#if defined(NIGH_WITH_OPENMP)
#include <omp.h>
#endif

namespace bench {

#if defined(NIGH_WITH_OPENMP)

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

#endif

namespace {

using jacobi3d::Team;
using jacobi3d::Variant;

class NighTiles : public Variant {
 public:
  NighTiles(Team const& team, int width, int rows)
      : width_(static_cast<std::size_t>(width)),
        rows_(static_cast<std::size_t>(rows)),
        runtime_(
            {.machine = team.machine, .workers = team.threads(), .queue_level = nigh::level::l3}) {}

  int most_steps() const override { return 1 << 20; }
  bool ends_in_place(int steps) const override { return steps % 2 == 0; }
  void sweep(jacobi3d::Sweep const& s) override {
    jacobi3d::sweep_in_tiles(s, {.tile_width = width_, .tile_rows = rows_, .where = &runtime_});
  }

 private:
  std::size_t width_, rows_;
  nigh::runtime runtime_;
};

Contestant solver_variant(std::string const& name) {
  auto const* const v = jacobi3d::find_variant(name);
  Contestant c{v != nullptr ? v->name : name, 0, false, nullptr, "there is no such variant"};
  if (v == nullptr) return c;
  c.why_absent = v->why_absent;
  if (v->make != nullptr) c.make = v->make;
  return c;
}

Contestant nigh_tiles(std::string name, int width, int rows) {
  return {std::move(name),
          width,
          true,
          [width, rows](Team const& team) -> std::unique_ptr<Variant> {
            return std::make_unique<NighTiles>(team, width, rows);
          },
          {}};
}

Contestant tiles_with_barriers(std::string name, int width, int rows, bool dynamic) {
  Contestant c{std::move(name), width, true, nullptr, {}};
#if defined(NIGH_WITH_OPENMP)
  c.make = [=](Team const& team) { return make_static_tiles(team, width, rows, dynamic); };
#else
  (void)rows, (void)dynamic;
  c.why_absent = "the compiler had no OpenMP";
#endif
  return c;
}

}  // namespace

std::vector<Contestant> contestants(TemporalOptions const& o) {
  std::vector<Contestant> all;
  for (char const* name : {"openmp/static", "openmp/dynamic", "nigh/queues"})
    if (!o.search || name == std::string_view("nigh/queues")) all.push_back(solver_variant(name));
  all.push_back(nigh_tiles("nigh/temporal", 0, o.rows));
  for (int const width : o.widths) {
    auto const of = " " + std::to_string(width);
    all.push_back(nigh_tiles("nigh/temporal" + of, width, o.rows));
    if (!o.search) all.push_back(tiles_with_barriers("openmp/temporal" + of, width, o.rows, false));
  }
  return all;
}

Contestant tiles_alone(TemporalOptions const& o) {
  auto const& name = o.variant;
  int const width = o.widths.empty() ? 0 : o.widths.front();
  if (name == "nigh/temporal") return nigh_tiles(name, width, o.rows);
  bool const dynamic = name == "openmp/temporal-dynamic";
  if (!dynamic && name != "openmp/temporal")
    refuse("--variant", name, "is not nigh/temporal, openmp/temporal or openmp/temporal-dynamic");
  auto const c = tiles_with_barriers(name, width, o.rows, dynamic);
  if (c.make == nullptr) refuse("--variant", name, "is absent: " + c.why_absent);
  if (width == 0) refuse("--variant", name, "chooses no width; --widths gives it one");
  return c;
}

}  // namespace bench
