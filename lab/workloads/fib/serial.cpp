// SPDX-License-Identifier: Apache-2.0
#include "fib/config.hpp"

namespace fib {

// Kept a call each: g++ would otherwise unfold many levels into one, which nobody who makes tasks
// can do, and the ratio to it would say nothing about spawning.
[[gnu::noinline]] std::uint64_t serial(int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  return serial(n - 1) + serial(n - 2);
}

std::uint64_t solve_serial(Config const& config) { return serial(config.n); }

}  // namespace fib
