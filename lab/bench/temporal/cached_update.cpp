// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/cached_update.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <nigh/array.hpp>
#include <vector>

namespace bench {

namespace {

// Two steps of a tile, the second one row back and one plane up. Before them comes a piece of no
// rows in the same planes: what follows another piece is in a cache.
constexpr jacobi3d::Extent most{600, 5, 9};
constexpr int steps = 1000;  // some 5 ms

nigh::array<double> filled(jacobi3d::Grid const& grid) {
  nigh::array<double> field(grid.elements());
  jacobi3d::fill_planes(grid, field.data(), -1, grid.interior.k + 1);
  return field;
}

}  // namespace

double cached_update_rate(JacobiOptions const& o, Crew& crew) {
  jacobi3d::Grid const grid({std::min(o.grid.i, most.i), most.j, most.k});
  auto const [ni, nj, nk] = grid.interior;
  jacobi3d::Extent const updated{ni, nj - 1, nk - 1};
  jacobi3d::Box const first{{0, 1, 0}, {ni, nj, nk - 1}}, second{{0, 0, 1}, {ni, nj - 1, nk}};
  jacobi3d::Box const none{{0, 1, 0}, {ni, 1, nk}};
  std::vector<double> seconds(static_cast<std::size_t>(crew.size()));
  crew.run([&](int thread) {
    auto a = filled(grid), b = filled(grid);
    std::array<jacobi3d::TilePiece, 3> const pieces{
        {{b.data(), a.data(), none}, {a.data(), b.data(), first}, {b.data(), a.data(), second}}};
    auto start = std::chrono::steady_clock::now();
    for (int n = -steps / 10; n < steps; n += 2) {
      if (n == 0) start = std::chrono::steady_clock::now();  // all begin about now
      o.kernel.sweep_in_tile(grid, pieces.data(), std::ssize(pieces), o.kernel.together);
    }
    seconds[static_cast<std::size_t>(thread)] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  double rate = 0;
  for (double const s : seconds) rate += static_cast<double>(updated.sites()) * steps / s / 1e6;
  return rate;
}

}  // namespace bench
