// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/obstacles.hpp"

#include <algorithm>
#include <vector>

namespace bench {

namespace {

using jacobi3d::Box;
using jacobi3d::Extent;
using jacobi3d::Grid;

struct Brick {  // of whole rows
  std::ptrdiff_t k0, k1, j0, j1;
};

// Kernels are plain functions, so what they go around is the process's.
struct {
  jacobi3d::BlockSweep sweep = nullptr;
  jacobi3d::TileSweep in_tile = nullptr;
  std::vector<Brick> bricks;
  double free = 1;
} world;

// f(part) of the box, for the parts of it that are in none of the bricks from n on.
template <class F>
void for_each_free(Box const& box, F const& f, std::size_t n = 0) noexcept {
  if (box.lo.k >= box.hi.k || box.lo.j >= box.hi.j) return;
  for (; n < world.bricks.size(); ++n) {
    Brick const& b = world.bricks[n];
    auto const k0 = std::max(b.k0, box.lo.k), k1 = std::min(b.k1, box.hi.k);
    auto const j0 = std::max(b.j0, box.lo.j), j1 = std::min(b.j1, box.hi.j);
    if (k0 >= k1 || j0 >= j1) continue;
    auto const rest = [&](std::ptrdiff_t from_k, std::ptrdiff_t to_k, std::ptrdiff_t from_j,
                          std::ptrdiff_t to_j) {
      for_each_free({{box.lo.i, from_j, from_k}, {box.hi.i, to_j, to_k}}, f, n + 1);
    };
    rest(box.lo.k, k0, box.lo.j, box.hi.j);
    rest(k1, box.hi.k, box.lo.j, box.hi.j);
    rest(k0, k1, box.lo.j, j0);
    rest(k0, k1, j1, box.hi.j);
    return;
  }
  f(box);
}

// Pieces between two that a brick cuts go to the kernel together, the parts of those one by one.
void sweep_free_in_tile(Grid const& grid, jacobi3d::TilePiece const* pieces, std::ptrdiff_t count,
                        std::ptrdiff_t together) noexcept {
  std::ptrdiff_t done = 0;
  for (std::ptrdiff_t n = 0; n < count; ++n) {
    auto const& p = pieces[n];
    bool whole = false;
    for_each_free(p.box, [&](Box const& part) { whole = part == p.box; });
    if (whole) continue;
    if (n > done) world.in_tile(grid, pieces + done, n - done, together);
    for_each_free(p.box, [&](Box const& part) {
      jacobi3d::TilePiece const one{p.from, p.to, part};
      world.in_tile(grid, &one, 1, together);
    });
    done = n + 1;
  }
  if (count > done) world.in_tile(grid, pieces + done, count - done, together);
}

}  // namespace

jacobi3d::Kernel around_obstacles(jacobi3d::Kernel const& kernel, Extent const& grid) {
  world.sweep = kernel.sweep_block;
  world.in_tile = kernel.sweep_in_tile;
  world.bricks.clear();
  double solid = 0;
  // Four by two of them: half of the planes, and there three quarters of the rows.
  constexpr std::ptrdiff_t along_k = 4, along_j = 2;
  for (std::ptrdiff_t a = 0; a < along_k; ++a)
    for (std::ptrdiff_t b = 0; b < along_j; ++b) {
      auto const k0 = grid.k * a / (2 * along_k), k1 = grid.k * (a + 1) / (2 * along_k);
      auto const j0 = grid.j * b / along_j, j1 = j0 + grid.j * 3 / (4 * along_j);
      world.bricks.push_back({k0, k1, j0, j1});
      solid += static_cast<double>((k1 - k0) * (j1 - j0));
    }
  world.free = 1 - solid / static_cast<double>(grid.k * grid.j);
  jacobi3d::Kernel around = kernel;
  around.sweep_block = [](Grid const& g, double const* from, double* to, Box const& box) noexcept {
    for_each_free(box, [&](Box const& part) { world.sweep(g, from, to, part); });
  };
  around.sweep_in_tile = sweep_free_in_tile;
  return around;
}

double free_share() { return world.free; }

}  // namespace bench
