// SPDX-License-Identifier: Apache-2.0
#include "jacobi3d/grid.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace jacobi3d {

namespace {

std::string text(Extent const& e) {
  return std::to_string(e.i) + "x" + std::to_string(e.j) + "x" + std::to_string(e.k);
}

bool positive(Extent const& e) noexcept { return e.i > 0 && e.j > 0 && e.k > 0; }

// Room for the boundary and for padding (see Grid), generously rounded up.
bool addressable(Extent const& e) noexcept {
  constexpr auto limit = std::numeric_limits<std::ptrdiff_t>::max() / 16;
  std::ptrdiff_t bytes = 0;
  std::ptrdiff_t const padded[] = {32, 32, 8};
  std::ptrdiff_t const sides[] = {e.i, e.j, e.k};
  bytes = static_cast<std::ptrdiff_t>(sizeof(double));
  for (int axis = 0; axis < 3; ++axis) {
    std::ptrdiff_t side = 0;
    if (__builtin_add_overflow(sides[axis], padded[axis], &side)) return false;
    if (__builtin_mul_overflow(bytes, side, &bytes)) return false;
  }
  return bytes < limit;
}

}  // namespace

std::string_view to_string(Init init) noexcept {
  switch (init) {
    case Init::contiguous:
      return "static";
    case Init::round_robin:
      return "static,1";
    case Init::ld0:
      return "ld0";
  }
  return "?";
}

std::string_view to_string(Order order) noexcept {
  switch (order) {
    case Order::kji:
      return "kji";
    case Order::jki:
      return "jki";
    case Order::strips:
      return "strips";
  }
  return "?";
}

std::optional<Init> init_from_string(std::string_view name) noexcept {
  if (name == "static" || name == "contiguous" || name == "blocked") return Init::contiguous;
  if (name == "static,1" || name == "cyclic") return Init::round_robin;
  if (name == "ld0") return Init::ld0;
  return std::nullopt;
}

std::optional<Order> order_from_string(std::string_view name) noexcept {
  for (Order const o : {Order::kji, Order::jki, Order::strips})
    if (name == to_string(o)) return o;
  return std::nullopt;
}

nigh::result<void> check(Extent const& grid, Extent const& block) {
  if (!positive(grid)) return nigh::error{"--grid: " + text(grid) + ": sizes must be at least 1"};
  if (!positive(block))
    return nigh::error{"--block: " + text(block) + ": sizes must be at least 1"};
  if (block.i > grid.i || block.j > grid.j || block.k > grid.k)
    return nigh::error{"--block: " + text(block) + " does not fit into the grid of " + text(grid)};
  if (!addressable(grid))
    return nigh::error{"--grid: " + text(grid) + ": the arrays' bytes overflow"};
  return {};
}

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

Blocks::Blocks(Extent const& grid, Extent const& block) noexcept
    : grid_(grid),
      block_(block),
      along_{(grid.i + block.i - 1) / block.i, (grid.j + block.j - 1) / block.j,
             (grid.k + block.k - 1) / block.k} {}

Box Blocks::box(int block) const noexcept {
  std::ptrdiff_t const ib = block % along_.i;
  std::ptrdiff_t const jb = block / along_.i % along_.j;
  std::ptrdiff_t const kb = block / along_.i / along_.j;
  Extent const lo{ib * block_.i, jb * block_.j, kb * block_.k};
  return {lo,
          {std::min(lo.i + block_.i, grid_.i), std::min(lo.j + block_.j, grid_.j),
           std::min(lo.k + block_.k, grid_.k)}};
}

Box Blocks::layer_box(int layer) const noexcept {
  return {{0, 0, layer * block_.k}, {grid_.i, grid_.j, std::min((layer + 1) * block_.k, grid_.k)}};
}

std::vector<int> Blocks::submission(Order order, int strip) const {
  std::vector<int> blocks;
  blocks.reserve(static_cast<std::size_t>(size()));
  auto const row = [&](std::ptrdiff_t jb, std::ptrdiff_t kb) {
    for (std::ptrdiff_t ib = 0; ib < along_.i; ++ib) blocks.push_back(number(ib, jb, kb));
  };
  // kji is one strip as wide as the grid, and jki strips one block wide.
  std::ptrdiff_t const width = order == Order::kji ? along_.j : order == Order::jki ? 1 : strip;
  for (std::ptrdiff_t first = 0; first < along_.j; first += width)
    for (std::ptrdiff_t kb = 0; kb < along_.k; ++kb)
      for (std::ptrdiff_t jb = first; jb < std::min(first + width, along_.j); ++jb) row(jb, kb);
  return blocks;
}

int strip_width(Grid const& grid, Extent const& block, std::uint64_t cache_bytes) noexcept {
  auto const column = 2 * sizeof(double) * static_cast<std::uint64_t>(block.k + 2) *
                      static_cast<std::uint64_t>(block.j) *
                      static_cast<std::uint64_t>(grid.row_pitch);
  return static_cast<int>(std::clamp<std::uint64_t>(cache_bytes / column, 1, 1U << 20));
}

// As OpenMP's static schedule: the first `layers % threads` threads have one layer more.
int first_toucher(Init init, int layer, int layers, int threads) noexcept {
  if (init == Init::round_robin) return layer % threads;
  if (init == Init::ld0) return 0;
  int const each = layers / threads;
  int const longer = layers % threads;
  int const in_longer = longer * (each + 1);
  return layer < in_longer ? layer / (each + 1) : longer + (layer - in_longer) / std::max(each, 1);
}

}  // namespace jacobi3d
