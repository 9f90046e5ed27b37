// SPDX-License-Identifier: Apache-2.0
#include "npb_mg/kernel.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "variants.hpp"

namespace npb_mg {

namespace {

constexpr Class all[] = {
    {'S', 32, 4, &smoother_a, 0.5307707005734e-04},
    {'W', 128, 4, &smoother_a, 0.6467329375339e-05},
    {'A', 256, 4, &smoother_a, 0.2433365309069e-05},
    {'B', 256, 20, &smoother_b, 0.1800564401355e-05},
    {'C', 512, 20, &smoother_b, 0.5706732285740e-06},
    {'D', 1024, 50, &smoother_b, 0.1583275060440e-09},
};

}  // namespace

Class const* find_class(std::string_view name) noexcept {
  if (name.size() != 1) return nullptr;
  for (Class const& c : all)
    if (c.name == std::toupper(static_cast<unsigned char>(name[0]))) return &c;
  return nullptr;
}

bool verified(Class const& size, double norm) noexcept {
  return std::abs(norm - size.norm) <= tolerance * size.norm;
}

double mops(Class const& size, double seconds) noexcept {
  return 58.0 * size.iterations * static_cast<double>(size.points()) / seconds / 1e6;
}

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

std::span<Kernel const> kernels() {
  static auto const list = workloads::runnable<Kernel>({
      {"baseline", baseline_kernel},
#if defined(__x86_64__)
      {"avx2", avx2_kernel},
      {"avx512", avx512_kernel},
#endif
  });
  return list;
}

Kernel const* find_kernel(std::string_view isa) { return workloads::widest(kernels(), isa); }

}  // namespace npb_mg
