// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fibonacci numbers the slow way, one task a call: nothing but spawns and joins.

#include <cstdint>

namespace fib {

struct Config {
  int n = 30;
  int cutoff = 0;  // depth from which on calls are plain, 0: none
};

std::uint64_t serial(int n);

std::uint64_t solve_serial(Config const& config);
std::uint64_t solve_openmp(Config const& config);
std::uint64_t solve_tbb(Config const& config);
std::uint64_t solve_nigh(Config const& config);

}  // namespace fib
