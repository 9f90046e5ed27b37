// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers that a seed determines, on every machine.

#include <cstdint>

namespace simulation {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() noexcept {  // splitmix64
    auto z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>((bits() >> 32) * n >> 32);
  }
  std::int64_t between(std::int64_t low, std::int64_t high) noexcept {  // both included
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::uint32_t n) noexcept { return below(n) == 0; }
  // Mostly much nearer to `low`: as many of each order of magnitude.
  std::int64_t spread(std::int64_t low, std::int64_t high) noexcept {
    auto span = high - low;
    for (int i = 0; i < 10 && span > 1 && below(2) == 0; ++i) span /= 2;
    return between(low, low + span);
  }

 private:
  std::uint64_t state_;
};

}  // namespace simulation
