// SPDX-License-Identifier: Apache-2.0
#pragma once
// Virtual time: whole nanoseconds since a simulation began, so that a sum of steps is exact.

#include <cmath>
#include <cstdint>
#include <limits>

namespace nigh::sim {

using Time = std::int64_t;

constexpr double seconds(Time t) noexcept { return static_cast<double>(t) * 1e-9; }

// 126 years: what takes so long is not waited for. Two of it can still be added.
constexpr Time forever = 4'000'000'000'000'000'000;

// Rounded up: nothing ends before its work is done.
inline Time nanoseconds(double s) noexcept {
  return s < seconds(forever) ? static_cast<Time>(std::ceil(s * 1e9)) : forever;
}

// For tests: the step of this number happens to nobody, as a mistake would have it.

struct LostStep {
  std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace nigh::sim
