// SPDX-License-Identifier: Apache-2.0
#include "fib/config.hpp"

namespace fib {

namespace {

std::uint64_t spawn(int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  std::uint64_t a = 0;
#pragma omp task untied shared(a) firstprivate(n)
  a = spawn(n - 1);
  std::uint64_t const b = spawn(n - 2);
#pragma omp taskwait
  return a + b;
}

std::uint64_t spawn_above(int n, int levels) {
  if (n < 2 || levels == 0) return serial(n);
  std::uint64_t a = 0;
#pragma omp task untied shared(a) firstprivate(n, levels)
  a = spawn_above(n - 1, levels - 1);
  std::uint64_t const b = spawn_above(n - 2, levels - 1);
#pragma omp taskwait
  return a + b;
}

}  // namespace

std::uint64_t solve_openmp(Config const& config) {
  return config.cutoff > 0 ? spawn_above(config.n, config.cutoff) : spawn(config.n);
}

}  // namespace fib
