// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/contestants.hpp"

#include <string_view>

#include "bench/options.hpp"
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
