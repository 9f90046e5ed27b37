// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/contestants.hpp"

#include "jacobi3d/temporal.hpp"

namespace bench {

namespace {

using jacobi3d::Team;
using jacobi3d::Variant;

class NighTiles : public Variant {
 public:
  NighTiles(Team const& team, int width, int rows)
      : width_(static_cast<std::size_t>(width)),
        rows_(static_cast<std::size_t>(rows)),
        runtime_({.machine = team.machine,
                  .workers = team.threads(),
                  .queue_level = nigh::level::l3}) {}

  int most_steps() const override { return 1 << 20; }
  bool ends_in_place(int steps) const override { return steps % 2 == 0; }
  void sweep(jacobi3d::Sweep const& s) override {
    jacobi3d::sweep_in_tiles(
        s, *s.kernel, {.tile_width = width_, .tile_rows = rows_, .where = &runtime_});
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

}  // namespace

std::vector<Contestant> contestants(TemporalOptions const& o) {
  std::vector<Contestant> all;
  for (char const* name : {"openmp/static", "openmp/dynamic", "nigh/queues"})
    all.push_back(solver_variant(name));
  int const rows = o.rows;
  auto const nigh_tiles = [&](std::string name, int width) {
    all.push_back({std::move(name), width, true,
                   [width, rows](Team const& team) -> std::unique_ptr<Variant> {
                     return std::make_unique<NighTiles>(team, width, rows);
                   },
                   {}});
  };
  nigh_tiles("nigh/temporal", 0);
  for (int const width : o.widths) {
    nigh_tiles("nigh/temporal " + std::to_string(width), width);
    Contestant barriers{"openmp/temporal " + std::to_string(width), width, true, nullptr, {}};
#if defined(NIGH_WITH_OPENMP)
    barriers.make = [width, rows](Team const& team) { return make_static_tiles(team, width, rows); };
#else
    barriers.why_absent = "the compiler had no OpenMP";
#endif
    all.push_back(std::move(barriers));
  }
  return all;
}

}  // namespace bench
