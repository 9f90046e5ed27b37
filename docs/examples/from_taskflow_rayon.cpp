// SPDX-License-Identifier: Apache-2.0
// Programs of Taskflow's and rayon's users on nigh: a graph that is run several times, until a
// condition holds, and what rayon does with iterators. c++ -std=c++20 -O2 from_taskflow_rayon.cpp
// $(pkg-config --cflags --libs nigh)

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_reduce.hpp>
#include <nigh/parallel_sort.hpp>
#include <nigh/task_scope.hpp>
#include <numeric>
#include <span>
#include <vector>

// A graph is a function of the scope it is made in: each call adds it once. The handle it returns
// is that of its last task.
nigh::task_handle<double> add_step(nigh::task_scope& scope, std::span<double> x) {
  auto const half = x.size() / 2;
  auto const smooth = [](std::span<double> part) {
    for (auto& v : part) v = std::sqrt(v);
  };
  auto const left = scope.spawn(nigh::after(), [=] { smooth(x.first(half)); });
  auto const right = scope.spawn(nigh::after(), [=] { smooth(x.subspan(half)); });
  return scope.async(nigh::after(left, right), [x] {
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  });
}

long fib(int n) {
  if (n < 2) return n;
  auto const [a, b] = nigh::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

int main() {
  std::vector<double> x(100'000, 16.0);
  nigh::task_scope scope;
  int steps = 0;
  for (double mean = 16; mean > 1.01; ++steps) mean = add_step(scope, x).get();
  std::printf("after %d steps\n", steps);

  std::printf("fib %ld\n", fib(25));

  long const squares =
      nigh::parallel_reduce(0L, 1001L, 0L, [](long i) { return i * i; }, std::plus<long>());
  std::printf("squares %ld\n", squares);

  std::vector<int> keys(1000);
  nigh::parallel_for(0, 1000, [&](int i) { keys[static_cast<std::size_t>(i)] = i * 7919 % 1000; });
  nigh::parallel_sort(keys.begin(), keys.end());
  std::printf("keys %d to %d\n", keys.front(), keys.back());
}
