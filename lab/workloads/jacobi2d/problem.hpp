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
