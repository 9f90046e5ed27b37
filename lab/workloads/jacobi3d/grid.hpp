// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where a lattice site lies in memory, what it starts with, and how fields are compared.

#include <cstdint>

#include "jacobi3d/config.hpp"

namespace jacobi3d {

// Memory layout of one field, in doubles:
//
//   row    [ 7 unused or shared | i = -1 | i = 0 .. n-1 | i = n ]   starts on a cache line, and so
//                                                                   does i = 0
//   plane  rows j = -1 .. n
//   field  planes k = -1 .. n
//
// Rows are a whole number of cache lines apart, and not a multiple of 8 lines; planes an odd number
// of lines. So the rows and planes a stencil reads at one time fall into different cache sets, and
// 4 KiB aliasing between loads and stores is rare.
struct Grid {
  static constexpr std::ptrdiff_t line = 8;  // doubles in a cache line

  Extent interior;
  std::ptrdiff_t row_pitch = 0;
  std::ptrdiff_t plane_pitch = 0;

  explicit Grid(Extent const& size) noexcept;

  std::size_t elements() const noexcept {
    return static_cast<std::size_t>(plane_pitch * (interior.k + 2) + line);
  }

  // Offset of a site; each index may be -1 or one beyond the interior, for the boundary.
  std::ptrdiff_t at(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) const noexcept {
    return (k + 1) * plane_pitch + (j + 1) * row_pitch + line + i;
  }
};

// The field a run starts from: a reproducible value in [0, 1) for each site, boundary included.
double initial_value(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) noexcept;

// Writes initial values to the planes [k0, k1), boundary rows and columns included; k may be -1 and
// one beyond the interior. The unused doubles are written too, so that their pages are touched.
void fill_planes(Grid const& grid, double* field, std::ptrdiff_t k0, std::ptrdiff_t k1) noexcept;

// Of the interior sites of the planes [k0, k1). A sum modulo 2^64 of one hash per site (of its bits
// and its position), so parts may be added in any order, and a single wrong bit shows.
std::uint64_t checksum_planes(Grid const& grid, double const* field, std::ptrdiff_t k0,
                              std::ptrdiff_t k1) noexcept;

// The definition, site by site, without vectors, blocks or threads: what every variant is held to.
void reference_sweep(Grid const& grid, double const* from, double* to, std::ptrdiff_t k0,
                     std::ptrdiff_t k1) noexcept;

// Interior sites whose bits differ.
std::size_t different_sites(Grid const& grid, double const* a, double const* b) noexcept;

}  // namespace jacobi3d
