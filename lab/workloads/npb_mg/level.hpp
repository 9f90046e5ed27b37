// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a grid point lies in memory, on every level of the multigrid.

#include <cstddef>
#include <vector>

namespace npb_mg {

// Doubles in a cache line, and in the widest vector: kernels load and store up to so many beyond a
// row's end.
inline constexpr std::ptrdiff_t line = 8;

// Some planes of doubles, row by row. Rows are whole cache lines, and so is what lies before i = 1:
//
//   row    [ 7 unused or shared | i = 0 | i = 1 .. n | i = n+1 is the next row's first ]
//
// Rows and planes are an odd number of lines apart, so that those a stencil reads at one time fall
// into different cache sets.
struct Layout {
  std::ptrdiff_t row = 0;    // doubles from a row to the next
  std::ptrdiff_t plane = 0;  // from a plane to the next

  Layout() = default;
  Layout(int n, std::ptrdiff_t rows) noexcept;
};

// One level's grid of n^3 points, indices 1 .. n, and a ghost layer around it: index 0 repeats n,
// index n+1 repeats 1.
struct Level {
  int n = 0;
  Layout layout;
  std::ptrdiff_t offset = 0;  // of the level in the array that holds all of them

  // Offset of the point (1, j, k) within the array.
  std::ptrdiff_t at(std::ptrdiff_t j, std::ptrdiff_t k) const noexcept {
    return offset + k * layout.plane + j * layout.row + line;
  }
  std::size_t elements() const noexcept;
};

// All levels of a grid, the coarsest (n = 2) first.
std::vector<Level> levels_of(int n);

}  // namespace npb_mg
