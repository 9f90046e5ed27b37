// SPDX-License-Identifier: Apache-2.0
#pragma once
// The smallest program that forks at every step.

#include <nigh/runtime.hpp>

namespace nigh::tests {

inline long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

}  // namespace nigh::tests
