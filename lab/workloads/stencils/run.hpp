// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part that all problems share: runs on a grid.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nigh/stencil.hpp>
#include <nigh/time_grid.hpp>
#include <span>
#include <string_view>

namespace stencils {

// Stencils beyond Jacobi's, each on a nigh::time_grid: in tiles of planes and steps, or in sweeps.

struct Outcome {
  nigh::stencil_plan plan;
  double seconds = 0;       // of the steps
  double updates = 0;       // of points
  std::uint64_t bits = 0;   // of all values: the same however it was run
  double conserved = 0;     // what the equations keep; 0: nothing
  double expected = 0;      // its value at the beginning
  double most_off = 1e-10;  // of it, by rounding
};

struct Problem {
  std::string_view name;
  std::string_view what;
  std::size_t bytes_per_point;  // both copies
  int dimensions;
  Outcome (*solve)(std::size_t side, std::size_t steps, nigh::stencil_options const& how);
};

// The heat equation on a square that is a ring in one direction, 5 points.
Outcome heat2d(std::size_t side, std::size_t steps, nigh::stencil_options const& how);
// Diffusion in a cube whose conductivity differs from place to place, 7 points.
Outcome diffusion3d(std::size_t side, std::size_t steps, nigh::stencil_options const& how);
// Lattice Boltzmann, D3Q19, single relaxation time (Qian, d'Humieres, Lallemand 1992), in a cube
// that is a ring in all directions: mass is conserved.
Outcome lattice_boltzmann(std::size_t side, std::size_t steps, nigh::stencil_options const& how);

std::span<Problem const> problems();

// Of values in some order.
class Bits {
 public:
  void add(double value) noexcept {
    std::uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    sum_ = (sum_ ^ word) * 0x9e3779b97f4a7c15u;
    sum_ ^= sum_ >> 29;
  }
  std::uint64_t sum() const noexcept { return sum_; }

 private:
  std::uint64_t sum_ = 1;
};

template <class T, std::size_t D, class Update>
Outcome run(nigh::time_grid<T, D>& grid, std::size_t steps, Update const& update) {
  Outcome o;
  o.plan = grid.plan();
  auto const start = std::chrono::steady_clock::now();
  grid.run(steps, update);
  o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  o.updates = static_cast<double>(steps);
  for (auto const n : grid.points()) o.updates *= static_cast<double>(n);
  return o;
}

// Signed, as a view's indices are.
template <std::size_t D>
struct Bounds {
  std::array<std::ptrdiff_t, D> begin, end;
  explicit Bounds(nigh::box<D> const& b) {
    for (std::size_t d = 0; d < D; ++d) {
      begin[d] = static_cast<std::ptrdiff_t>(b.begin[d]);
      end[d] = static_cast<std::ptrdiff_t>(b.end[d]);
    }
  }
};

}  // namespace stencils
