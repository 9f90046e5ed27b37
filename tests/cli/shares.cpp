// SPDX-License-Identifier: Apache-2.0
// A program of nigh's runtime that shares the host: works for so many milliseconds, in rounds of
// forks, loops and queued tasks, checks each, and says how many workers it had at least and at
// most.
//
//   shares MILLISECONDS

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_reduce.hpp>
#include <nigh/runtime.hpp>
#include <thread>

namespace {

long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = nigh::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

bool round_is_right(nigh::runtime& rt) {
  std::atomic<int> tasks{0};
  for (int i = 0; i < 100; ++i) rt.spawn([&] { ++tasks; });
  rt.wait();
  auto const sum = nigh::parallel_reduce(
      0, 100'000, 0L, [](int i) { return long{i}; }, [](long a, long b) { return a + b; });
  return tasks == 100 && sum == 4'999'950'000L && fib(22) == 17711;
}

}  // namespace

int main() {
  std::atomic<bool> ends{false};
  std::thread input([&] {
    while (std::getchar() != EOF) {
    }
    ends = true;
  });
  auto& rt = nigh::default_runtime();
  int least = rt.workers(), most = 0;
  bool right = true;
  do {
    right = round_is_right(rt);
    least = std::min(least, rt.workers_now());
    most = std::max(most, rt.workers_now());
  } while (!ends && right);
  std::printf("%s, with %d to %d of %d workers\n", right ? "right" : "wrong", least, most,
              rt.workers());
  std::fflush(stdout);
  std::_Exit(right ? 0 : 1);
}
