// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "stencils/run.hpp"

namespace stencils {

std::span<Problem const> problems() {
  static constexpr std::array<Problem, 3> all{{
      {"heat2d", "5 points, square", 2 * 8, 2, heat2d},
      {"diffusion3d", "7 points, cube, with coefficients", 2 * 16, 3, diffusion3d},
      {"lbm", "D3Q19, cube", 2 * 19 * 8, 3, lattice_boltzmann},
  }};
  return all;
}

}  // namespace stencils
