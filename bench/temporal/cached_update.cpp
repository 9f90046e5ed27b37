// SPDX-License-Identifier: Apache-2.0
#include "bench/temporal/cached_update.hpp"

#include <algorithm>
#include <chrono>
#include <nigh/array.hpp>
#include <utility>
#include <vector>

namespace bench {

namespace {

constexpr jacobi3d::Extent most{600, 4, 8};
constexpr int sweeps = 1000;  // some 5 ms

nigh::array<double> filled(jacobi3d::Grid const& grid) {
  nigh::array<double> field(grid.elements());
  jacobi3d::fill_planes(grid, field.data(), -1, grid.interior.k + 1);
  return field;
}

}  // namespace

double cached_update_rate(JacobiOptions const& o, Crew& crew) {
  jacobi3d::Grid const grid({std::min(o.grid.i, most.i), most.j, most.k});
  jacobi3d::Box const box{{0, 0, 0}, grid.interior};
  std::vector<double> seconds(static_cast<std::size_t>(crew.size()));
  crew.run([&](int thread) {
    auto a = filled(grid), b = filled(grid);
    double *from = a.data(), *to = b.data();
    auto start = std::chrono::steady_clock::now();
    for (int n = -sweeps / 10; n < sweeps; ++n) {
      if (n == 0) start = std::chrono::steady_clock::now();  // all begin about now
      o.kernel.sweep_in_tile(grid, from, to, box);
      std::swap(from, to);
    }
    seconds[static_cast<std::size_t>(thread)] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  double rate = 0;
  for (double const s : seconds) rate += static_cast<double>(grid.interior.sites()) * sweeps / s / 1e6;
  return rate;
}

}  // namespace bench
