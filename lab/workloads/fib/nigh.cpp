// SPDX-License-Identifier: Apache-2.0
#include <nigh/fork_join.hpp>

#include "fib/config.hpp"

namespace fib {

namespace {

std::uint64_t spawn(int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  auto const [a, b] = nigh::fork_join([n] { return spawn(n - 1); }, [n] { return spawn(n - 2); });
  return a + b;
}

std::uint64_t spawn_above(int n, int levels) {
  if (n < 2 || levels == 0) return serial(n);
  auto const [a, b] = nigh::fork_join([=] { return spawn_above(n - 1, levels - 1); },
                                      [=] { return spawn_above(n - 2, levels - 1); });
  return a + b;
}

}  // namespace

std::uint64_t solve_nigh(Config const& config) {
  return config.cutoff > 0 ? spawn_above(config.n, config.cutoff) : spawn(config.n);
}

}  // namespace fib
