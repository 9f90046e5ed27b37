// SPDX-License-Identifier: Apache-2.0
// A sum as the users of each library write it. nigh bench compile defines one USE_.
#include <cstdio>

#if defined(USE_NIGH)
#include <nigh/parallel_reduce.hpp>

template <class F>
double sum_of(int n, F const& f) {
  return nigh::parallel_reduce(0, n, nigh::sum, f);
}
#elif defined(USE_TASKFLOW)
#include <functional>
#include <ranges>
#include <taskflow/algorithm/reduce.hpp>
#include <taskflow/taskflow.hpp>

template <class F>
double sum_of(int n, F const& f) {
  std::ranges::iota_view<int, int> const all(0, n);
  double sum = 0;
  tf::Executor executor;
  tf::Taskflow flow;
  flow.transform_reduce(all.begin(), all.end(), sum, std::plus<>(), f);
  executor.run(flow).wait();
  return sum;
}
#elif defined(USE_TBB)
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <functional>

template <class F>
double sum_of(int n, F const& f) {
  return tbb::parallel_reduce(
      tbb::blocked_range<int>(0, n), 0.0,
      [&](tbb::blocked_range<int> const& r, double sum) {
        for (int i = r.begin(); i < r.end(); ++i) sum += f(i);
        return sum;
      },
      std::plus<>());
}
#elif defined(USE_OPENMP)
template <class F>
double sum_of(int n, F const& f) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += f(i);
  return sum;
}
#elif defined(USE_STD_PAR)
#include <execution>
#include <functional>
#include <numeric>
#include <vector>

template <class F>
double sum_of(int n, F const& f) {
  std::vector<int> all(static_cast<std::size_t>(n));  // a std::views::iota counts as input only
  std::iota(all.begin(), all.end(), 0);
  return std::transform_reduce(std::execution::par, all.begin(), all.end(), 0.0, std::plus<>(), f);
}
#elif defined(USE_THREADS)
#include <thread>

template <class F>
double sum_of(int n, F const& f) {
  double sums[2] = {0, 0};
  auto const part = [&](int first, int last, double& sum) {
    for (int i = first; i < last; ++i) sum += f(i);
  };
  std::thread other([&] { part(n / 2, n, sums[1]); });
  part(0, n / 2, sums[0]);
  other.join();
  return sums[0] + sums[1];
}
#else  // one thread
template <class F>
double sum_of(int n, F const& f) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += f(i);
  return sum;
}
#endif

int main() {
  std::printf("%.0f\n", sum_of(1000, [](int i) { return 0.5 * i; }));
}
