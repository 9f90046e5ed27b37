// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel's body, for the files that compile it for one instruction set each; with internal
// linkage, or the linker might pick one processor's copy for all. A row is a simple loop that
// compilers turn into vectors.

#include "jacobi2d/kernel.hpp"

namespace jacobi2d {
namespace {

void sweep_tile(double const* from, double* to, std::ptrdiff_t row, std::ptrdiff_t rows,
                std::ptrdiff_t columns) noexcept {
  for (std::ptrdiff_t r = 0; r < rows; ++r, from += row, to += row) {
    double const* const centre = from;
    double const* const above = from - row;
    double const* const below = from + row;
    double* __restrict const target = to;
    for (std::ptrdiff_t c = 0; c < columns; ++c)
      target[c] = (centre[c] + above[c] + below[c] + centre[c - 1] + centre[c + 1]) * 0.2;
  }
}

}  // namespace
}  // namespace jacobi2d
