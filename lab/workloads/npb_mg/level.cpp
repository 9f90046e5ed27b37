// SPDX-License-Identifier: Apache-2.0
#include "npb_mg/level.hpp"

#include <algorithm>

namespace npb_mg {

namespace {

// The doubles that kernels may read beyond the last row's own line.
constexpr std::ptrdiff_t tail = 4 * line;

constexpr std::ptrdiff_t odd_lines(std::ptrdiff_t doubles) noexcept {
  return doubles / line % 2 == 0 ? doubles + line : doubles;
}

}  // namespace

Layout::Layout(int n, std::ptrdiff_t rows) noexcept
    : row(odd_lines((n + line - 1) / line * line + line)), plane(odd_lines(row * rows)) {}

std::size_t Level::elements() const noexcept {
  return static_cast<std::size_t>(layout.plane * (n + 2) + tail);
}

std::vector<Level> levels_of(int n) {
  std::vector<Level> levels;
  for (int side = n; side >= 2; side /= 2) levels.push_back({side, Layout(side, side + 2), 0});
  // The finest comes first in memory: it is the one that begins on a page.
  std::ptrdiff_t offset = 0;
  for (Level& level : levels) {
    level.offset = offset;
    offset += static_cast<std::ptrdiff_t>(level.elements());
  }
  std::reverse(levels.begin(), levels.end());
  return levels;
}

}  // namespace npb_mg
