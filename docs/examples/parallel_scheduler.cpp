// SPDX-License-Identifier: Apache-2.0
// Senders of stdexec on nigh's workers.
#include <cstdio>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_scheduler.hpp>
#include <stdexec/execution.hpp>
#include <utility>
#include <vector>

namespace ex = stdexec;

static long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = nigh::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

int main() {
  auto const scheduler = ex::get_parallel_scheduler();

  std::vector<double> squares(1000);
  auto fill = ex::bulk(ex::schedule(scheduler), ex::par, squares.size(),
                       [&](std::size_t i) { squares[i] = static_cast<double>(i * i); });
  ex::sync_wait(std::move(fill));
  std::printf("%.0f\n", squares.back());

  // A task of the scheduler is one of nigh's runtime: it forks.
  auto [number] = ex::sync_wait(ex::then(ex::schedule(scheduler), [] { return fib(25); })).value();
  std::printf("%ld\n", number);
}
