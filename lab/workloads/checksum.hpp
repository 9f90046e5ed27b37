// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers that stand for results and for matrices nobody wants to store twice.

#include <bit>
#include <cstdint>

namespace workloads {

// A bijection that leaves no pattern (splitmix64's last step).
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

// Of a field, element by element: a sum, so that any order of elements gives the same, yet each
// counts with its index and all of its bits.
constexpr std::uint64_t checksum_of(std::uint64_t index, double element) noexcept {
  return mixed(mixed(index) ^ std::bit_cast<std::uint64_t>(element));
}

}  // namespace workloads
