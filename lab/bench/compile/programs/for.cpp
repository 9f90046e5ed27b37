// SPDX-License-Identifier: Apache-2.0
// A parallel loop as the users of each library write it. nigh bench compile defines one USE_.
#include <cstdio>

#if defined(USE_NIGH)
#include <nigh/parallel_for.hpp>

template <class F>
void each(int n, F const& f) {
  nigh::parallel_for(0, n, f);
}
#elif defined(USE_FORK_UNION)
#include <fork_union.hpp>

template <class F>
void each(int n, F const& f) {
  static ashvardanian::fork_union::basic_pool_t pool;
  if (pool.try_spawn(2))
    pool.for_n(static_cast<std::size_t>(n),
               [&](std::size_t i) noexcept { f(static_cast<int>(i)); });
}
#elif defined(USE_TASKFLOW)
#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/taskflow.hpp>

template <class F>
void each(int n, F const& f) {
  tf::Executor executor;
  tf::Taskflow flow;
  flow.for_each_index(0, n, 1, f);
  executor.run(flow).wait();
}
#elif defined(USE_TBB)
#include <oneapi/tbb/parallel_for.h>

template <class F>
void each(int n, F const& f) {
  tbb::parallel_for(0, n, f);
}
#elif defined(USE_OPENMP)
template <class F>
void each(int n, F const& f) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) f(i);
}
#elif defined(USE_STD_PAR)
#include <algorithm>
#include <execution>
#include <numeric>
#include <vector>

template <class F>
void each(int n, F const& f) {
  std::vector<int> all(static_cast<std::size_t>(n));  // a std::views::iota counts as input only
  std::iota(all.begin(), all.end(), 0);
  std::for_each(std::execution::par, all.begin(), all.end(), f);
}
#elif defined(USE_THREADS)
#include <thread>

template <class F>
void each(int n, F const& f) {
  auto const part = [&](int first, int last) {
    for (int i = first; i < last; ++i) f(i);
  };
  std::thread other(part, n / 2, n);
  part(0, n / 2);
  other.join();
}
#else  // one thread
template <class F>
void each(int n, F const& f) {
  for (int i = 0; i < n; ++i) f(i);
}
#endif

int main() {
  static double x[1000];
  each(1000, [](int i) { x[i] = i; });
  double sum = 0;
  for (double const v : x) sum += v;
  std::printf("%.0f\n", sum);
}
