// SPDX-License-Identifier: Apache-2.0
#pragma once
// The problem: heat on a square, its border fixed, by averaging each point with its four
// neighbours. The square is a grid of square blocks, each with memory of its own and a layer of
// ghosts around it, as programs for many processes have it.
//
//   iteration:  every block is visited:  take in the borders that neighbours sent last time,
//                                        so many time steps on its own, send its borders

#include <cstddef>
#include <cstdint>

namespace jacobi2d {

// Where a point of a block lies in the block's memory.

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

struct Problem {
  int blocks = 24;  // along each side of the square
  int points = 0;   // along each side of a block
  int iterations = 10;
  // Time steps a visit. With more than one, a block's borders are those of the visit's beginning
  // until its end: fewer messages, and a block in cache is used again.
  int steps = 1;
  bool sends = true;  // otherwise ghosts keep their first values: no communication at all

  std::ptrdiff_t side() const noexcept { return std::ptrdiff_t{points} * blocks; }
  double updates() const noexcept {
    auto const n = static_cast<double>(side());
    return n * n * iterations * steps;
  }
  // Of the two fields, ghosts and all.
  std::size_t bytes() const noexcept;
};

// Points along a block's side so that both fields take this share of so much memory; at least 1.
int points_for(double share, std::size_t memory_bytes, int blocks) noexcept;

// The value that a point starts with, in [0, 1); rows and columns -1 and side() are the square's
// border.
double initial_value(std::ptrdiff_t row, std::ptrdiff_t column) noexcept;

// By its definition, on one thread: what every variant is held to. The checksum is a sum of one
// number a point, of its bits and its place.
std::uint64_t reference_checksum(Problem const& problem);
std::uint64_t point_checksum(Problem const& problem, std::ptrdiff_t row, std::ptrdiff_t column,
                             double value) noexcept;

}  // namespace jacobi2d
