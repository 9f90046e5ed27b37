// SPDX-License-Identifier: Apache-2.0
#pragma once
// The right side: -1 at the ten points with the smallest random numbers, +1 at those with the
// largest.

#include <cstdint>
#include <vector>

namespace npb_mg {

// The benchmarks' generator, in integers: x -> 5^13 x mod 2^46. A value is x * 2^-46.
namespace generator {
inline constexpr std::uint64_t factor = 1220703125;
inline constexpr std::uint64_t seed = 314159265;
inline constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;

// Only the low 46 bits of a product count, and overflow leaves them right.
constexpr std::uint64_t next(std::uint64_t x) noexcept { return factor * x & mask; }
constexpr std::uint64_t skip(std::uint64_t x, std::uint64_t steps) noexcept {
  for (std::uint64_t power = factor; steps > 0; steps >>= 1, power = power * power & mask)
    if (steps & 1) x = power * x & mask;
  return x;
}
}  // namespace generator

struct Point {
  int i = 0, j = 0, k = 0;  // 1 .. n
  bool operator==(Point const&) const = default;
};

struct Charges {
  std::vector<Point> plus;   // ten, of the largest number first
  std::vector<Point> minus;  // ten, of the smallest number first
};

// Points are numbered i first, then j, then k. Every thread skips ahead to planes of its own.
Charges find_charges(int n, int threads);

}  // namespace npb_mg
