// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stencils beyond Jacobi's, each on a nigh::time_grid: in tiles of planes and steps, or in sweeps.

#include <cstddef>
#include <cstdint>
#include <nigh/stencil.hpp>
#include <span>
#include <string_view>

namespace stencils {

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

}  // namespace stencils
