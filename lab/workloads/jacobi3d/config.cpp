// SPDX-License-Identifier: Apache-2.0
#include "jacobi3d/config.hpp"

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

}  // namespace jacobi3d
