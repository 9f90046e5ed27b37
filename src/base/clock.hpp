// SPDX-License-Identifier: Apache-2.0
#pragma once
// The steady clock, as a number.

#include <chrono>
#include <cstdint>

namespace nigh::base {

inline std::int64_t now_ns() noexcept {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

inline std::int64_t now_us() noexcept {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace nigh::base
