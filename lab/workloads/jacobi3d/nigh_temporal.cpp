// SPDX-License-Identifier: Apache-2.0
// Tiles of planes and steps, queued at the cache that holds them.
#include <span>

#include "jacobi3d/temporal.hpp"
#include "jacobi3d/tile_pieces.hpp"

namespace jacobi3d {

namespace {

class TimeTiles : public Variant {
 public:
  explicit TimeTiles(Team const& team) : runtime_(options(team)) {}

  int most_steps() const override { return 1 << 20; }
  bool ends_in_place(int steps) const override { return steps % 2 == 0; }

  void sweep(Sweep const& s) override { sweep_in_tiles(s, {.where = &runtime_}); }

 private:
  static nigh::runtime_options options(Team const& team) {
    nigh::runtime_options o;
    o.machine = team.machine;
    o.workers = team.threads();
    o.queue_level = nigh::level::l3;
    return o;
  }

  nigh::runtime runtime_;
};

// A block counts as run by whoever writes its first row in its first plane last.
void count_blocks(Sweep const& s, nigh::box<3> const& b) {
  Extent const block = s.plan->blocks.box(0).hi;
  auto const first = [](std::size_t from, std::ptrdiff_t size) {
    return (static_cast<std::ptrdiff_t>(from) + size - 1) / size;
  };
  for (auto k = first(b.begin[0], block.k); k * block.k < static_cast<std::ptrdiff_t>(b.end[0]);
       ++k)
    for (auto j = first(b.begin[1], block.j); j * block.j < static_cast<std::ptrdiff_t>(b.end[1]);
         ++j)
      for (std::ptrdiff_t i = 0; i < s.plan->blocks.along().i; ++i)
        s.ran_here(s.plan->blocks.number(i, j, k));
}

nigh::stencil_array<3> fields(Sweep const& s) {
  Grid const& grid = s.plan->grid;
  constexpr std::ptrdiff_t bytes = sizeof(double);
  return {.even = s.from + grid.at(0, 0, 0),
          .odd = s.to + grid.at(0, 0, 0),
          .ghosts = {1, 1, 1},
          .stride_bytes = {grid.plane_pitch * bytes, grid.row_pitch * bytes, bytes}};
}

}  // namespace

nigh::stencil_plan sweep_in_tiles(Sweep const& s, nigh::stencil_options const& options) {
  Grid const& grid = s.plan->grid;
  auto const size = [](std::ptrdiff_t n) { return static_cast<std::size_t>(n); };
  nigh::stencil<3> stencil(
      {.points = {size(grid.interior.k), size(grid.interior.j), size(grid.interior.i)},
       .data = s.from + grid.at(0, 0, 0),
       .plane_bytes = size(grid.plane_pitch) * sizeof(double),
       .arrays = {fields(s)}},
      options);
  stencil.run(size(s.steps), [&](std::span<nigh::stencil_piece<3> const> pieces) {
    auto const at = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
    TilePieces list(s);
    for (auto const& [step, b] : pieces) {
      list.add(at(step), {{at(b.begin[2]), at(b.begin[1]), at(b.begin[0])},
                          {at(b.end[2]), at(b.end[1]), at(b.end[0])}});
      if (s.ran_in != nullptr) count_blocks(s, b);
    }
    list.run();
  });
  return stencil.plan();
}

void add_nigh_temporal(std::vector<VariantInfo>& list) {
  list.push_back({"nigh/temporal",
                  false,
                  [](Team const& team) -> std::unique_ptr<Variant> {
                    return std::make_unique<TimeTiles>(team);
                  },
                  {}});
}

}  // namespace jacobi3d
