// SPDX-License-Identifier: Apache-2.0
#pragma once
// The random generator of thieves.

#include <cstdint>

namespace nigh::base {

// Xorshift (Marsaglia 2003), good enough to spread thieves. The state is never 0.
constexpr std::uint32_t next_random(std::uint32_t& state) noexcept {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

}  // namespace nigh::base
