// SPDX-License-Identifier: Apache-2.0
#include "jacobi3d/blocks.hpp"

#include <algorithm>

namespace jacobi3d {

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
