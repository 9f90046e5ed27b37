// SPDX-License-Identifier: Apache-2.0
#pragma once
// The problem: the multigrid benchmark of the NAS Parallel Benchmarks (Bailey and others 1991).
//
// A u = v on a periodic cube of n^3 points, approximately, by a fixed number of V-cycles. The right
// side is twenty point charges, the answer the root-mean-square of r = v - A u.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace npb_mg {

// Weights of a 27-point operator by the neighbour's distance: itself, face, edge, corner.
using Weights = std::array<double, 4>;

inline constexpr Weights operator_a{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
inline constexpr Weights smoother_a{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
inline constexpr Weights smoother_b{-3.0 / 17, 1.0 / 33, -1.0 / 61, 0};

struct Class {
  char name = '?';
  int n = 0;  // points along each side, a power of two
  int iterations = 0;
  Weights const* smoother = nullptr;
  double norm = 0;  // published, of the last residual

  constexpr std::size_t points() const noexcept {
    auto const side = static_cast<std::size_t>(n);
    return side * side * side;
  }
};

inline constexpr double tolerance = 1e-8;  // of the norm, relative

std::span<Class const> classes() noexcept;
Class const* find_class(std::string_view name) noexcept;  // "B" or "b"; null: there is none

bool verified(Class const& size, double norm) noexcept;
// Million operations per second, at 58 a point and iteration: nominal, not counted.
double mops(Class const& size, double seconds) noexcept;

}  // namespace npb_mg
