// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/task_group.h>

#include "fib/config.hpp"

namespace fib {

namespace {

std::uint64_t spawn(int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  std::uint64_t a = 0;
  oneapi::tbb::task_group group;
  group.run([&a, n] { a = spawn(n - 1); });
  std::uint64_t const b = spawn(n - 2);
  group.wait();
  return a + b;
}

std::uint64_t spawn_above(int n, int levels) {
  if (n < 2 || levels == 0) return serial(n);
  std::uint64_t a = 0;
  oneapi::tbb::task_group group;
  group.run([&a, n, levels] { a = spawn_above(n - 1, levels - 1); });
  std::uint64_t const b = spawn_above(n - 2, levels - 1);
  group.wait();
  return a + b;
}

}  // namespace

std::uint64_t solve_tbb(Config const& config) {
  return config.cutoff > 0 ? spawn_above(config.n, config.cutoff) : spawn(config.n);
}

}  // namespace fib
