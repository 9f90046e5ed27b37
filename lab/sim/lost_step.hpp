// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: the step of this number happens to nobody, as a mistake would have it.

#include <cstdint>
#include <limits>

namespace nigh::sim {

struct LostStep {
  std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace nigh::sim
