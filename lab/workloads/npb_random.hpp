// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random numbers of the NAS Parallel Benchmarks, in integers: x -> 5^13 x mod 2^46. A value is
// x * 2^-46, exactly.

#include <cstdint>

namespace npb_random {

inline constexpr std::uint64_t factor = 1220703125;
inline constexpr std::uint64_t seed = 314159265;  // EP begins with one of its own
inline constexpr std::uint64_t mask = (std::uint64_t{1} << 46) - 1;

// Only the low 46 bits of a product count, and overflow leaves them right.
constexpr std::uint64_t next(std::uint64_t x) noexcept { return factor * x & mask; }
constexpr std::uint64_t skip(std::uint64_t x, std::uint64_t steps) noexcept {
  for (std::uint64_t power = factor; steps > 0; steps >>= 1, power = power * power & mask)
    if (steps & 1) x = power * x & mask;
  return x;
}
constexpr double value(std::uint64_t x) noexcept { return static_cast<double>(x) * 0x1p-46; }

}  // namespace npb_random
