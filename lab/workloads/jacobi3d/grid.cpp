// SPDX-License-Identifier: Apache-2.0
#include "jacobi3d/grid.hpp"

#include <bit>

namespace jacobi3d {

namespace {

// Finaliser of SplitMix64 (Steele, Lea and Flood 2014).
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;

// Distinct for distinct sites of any grid with fewer than 2^21 sites a side.
constexpr std::uint64_t site_number(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) noexcept {
  return static_cast<std::uint64_t>(i + 1) | static_cast<std::uint64_t>(j + 1) << 21 |
         static_cast<std::uint64_t>(k + 1) << 42;
}

constexpr std::ptrdiff_t round_up(std::ptrdiff_t n, std::ptrdiff_t unit) noexcept {
  return (n + unit - 1) / unit * unit;
}

}  // namespace

// The cell i = n of a row may be the first double of the next row, which nobody else uses.
Grid::Grid(Extent const& size) noexcept : interior(size) {
  row_pitch = round_up(size.i, line) + line;
  if (row_pitch / line % 8 == 0) row_pitch += line;
  plane_pitch = row_pitch * (size.j + 2);
  if (plane_pitch / line % 2 == 0) plane_pitch += line;
}

double initial_value(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) noexcept {
  return static_cast<double>(mix(site_number(i, j, k) * golden) >> 11) * 0x1p-53;
}

void fill_planes(Grid const& grid, double* field, std::ptrdiff_t k0, std::ptrdiff_t k1) noexcept {
  auto const [ni, nj, nk] = grid.interior;
  for (std::ptrdiff_t k = k0; k < k1; ++k) {
    double* const plane = field + grid.at(-Grid::line, -1, k);
    for (std::ptrdiff_t e = (nj + 2) * grid.row_pitch; e < grid.plane_pitch; ++e) plane[e] = 0;
    for (std::ptrdiff_t j = -1; j <= nj; ++j) {
      double* const row = field + grid.at(0, j, k);
      for (std::ptrdiff_t i = 1 - Grid::line; i < -1; ++i) row[i] = 0;
      for (std::ptrdiff_t i = -1; i <= ni; ++i) row[i] = initial_value(i, j, k);
    }
  }
}

std::uint64_t checksum_planes(Grid const& grid, double const* field, std::ptrdiff_t k0,
                              std::ptrdiff_t k1) noexcept {
  auto const [ni, nj, nk] = grid.interior;
  std::uint64_t sum = 0;
  for (std::ptrdiff_t k = k0; k < k1; ++k)
    for (std::ptrdiff_t j = 0; j < nj; ++j) {
      double const* const row = field + grid.at(0, j, k);
      for (std::ptrdiff_t i = 0; i < ni; ++i)
        sum += mix(std::bit_cast<std::uint64_t>(row[i]) ^ site_number(i, j, k) * golden);
    }
  return sum;
}

void reference_sweep(Grid const& grid, double const* from, double* to, std::ptrdiff_t k0,
                     std::ptrdiff_t k1) noexcept {
  auto const [ni, nj, nk] = grid.interior;
  auto const f = [&](std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t k) {
    return from[grid.at(i, j, k)];
  };
  for (std::ptrdiff_t k = k0; k < k1; ++k)
    for (std::ptrdiff_t j = 0; j < nj; ++j)
      for (std::ptrdiff_t i = 0; i < ni; ++i)
        to[grid.at(i, j, k)] =
            c1 * f(i, j, k) +
            c2 * ((f(i - 1, j, k) + f(i + 1, j, k)) +
                  ((f(i, j - 1, k) + f(i, j, k - 1)) + (f(i, j + 1, k) + f(i, j, k + 1))));
}

std::size_t different_sites(Grid const& grid, double const* a, double const* b) noexcept {
  auto const [ni, nj, nk] = grid.interior;
  std::size_t different = 0;
  for (std::ptrdiff_t k = 0; k < nk; ++k)
    for (std::ptrdiff_t j = 0; j < nj; ++j)
      for (std::ptrdiff_t i = 0; i < ni; ++i) {
        auto const site = grid.at(i, j, k);
        different += std::bit_cast<std::uint64_t>(a[site]) != std::bit_cast<std::uint64_t>(b[site]);
      }
  return different;
}

}  // namespace jacobi3d
