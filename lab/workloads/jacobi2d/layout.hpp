// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a point of a block lies in the block's memory.

#include <cstddef>

namespace jacobi2d {

inline constexpr std::ptrdiff_t line = 8;  // doubles in a cache line

// One field of a block of n x n points, in doubles:
//
//   row    [ 7 unused or shared | -1 | 0 .. n-1 | n is the next row's first ]
//   field  rows -1 .. n
//
// Point 0 of a row lies on a cache line. Rows are not a multiple of 8 lines apart and fields an odd
// number of lines: what a stencil reads at one time falls into different cache sets.
struct Layout {
  std::ptrdiff_t points = 0;
  std::ptrdiff_t row = 0;     // from a row to the next
  std::ptrdiff_t field = 0;   // of a field, and from a field to the next
  std::ptrdiff_t border = 0;  // from a border, in an inbox, to the next

  explicit constexpr Layout(std::ptrdiff_t n) noexcept
      : points(n), row(lines(n) + line), border(lines(n)) {
    if (row / line % 8 == 0) row += line;
    field = row * (n + 2) + line;
    if (field / line % 2 == 0) field += line;
  }

  constexpr std::ptrdiff_t at(std::ptrdiff_t r, std::ptrdiff_t c) const noexcept {
    return (r + 1) * row + line + c;
  }

 private:
  static constexpr std::ptrdiff_t lines(std::ptrdiff_t n) noexcept {
    return (n + line - 1) / line * line;
  }
};

}  // namespace jacobi2d
