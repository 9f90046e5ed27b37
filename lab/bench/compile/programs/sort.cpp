// SPDX-License-Identifier: Apache-2.0
// A sort as the users of each library write it. nigh bench compile defines one USE_.
#include <cstdio>

#if defined(USE_NIGH)
#include <nigh/parallel_sort.hpp>

static void in_order(double* first, double* last) { nigh::parallel_sort(first, last); }
#elif defined(USE_TASKFLOW)
#include <taskflow/algorithm/sort.hpp>
#include <taskflow/taskflow.hpp>

static void in_order(double* first, double* last) {
  tf::Executor executor;
  tf::Taskflow flow;
  flow.sort(first, last);
  executor.run(flow).wait();
}
#elif defined(USE_TBB)
#include <oneapi/tbb/parallel_sort.h>

static void in_order(double* first, double* last) { tbb::parallel_sort(first, last); }
#elif defined(USE_OPENMP)
#include <parallel/algorithm>

static void in_order(double* first, double* last) { __gnu_parallel::sort(first, last); }
#elif defined(USE_STD_PAR)
#include <algorithm>
#include <execution>

static void in_order(double* first, double* last) { std::sort(std::execution::par, first, last); }
#elif defined(USE_THREADS)
#include <algorithm>
#include <thread>

static void in_order(double* first, double* last) {
  double* const middle = first + (last - first) / 2;
  std::thread other([&] { std::sort(middle, last); });
  std::sort(first, middle);
  other.join();
  std::inplace_merge(first, middle, last);
}
#else  // one thread
#include <algorithm>

static void in_order(double* first, double* last) { std::sort(first, last); }
#endif

int main() {
  static double x[1000];
  for (int i = 0; i < 1000; ++i) x[i] = i * 7 % 1000;
  in_order(x, x + 1000);
  for (int i = 0; i < 1000; ++i)
    if (x[i] != i) return 1;
  std::printf("%.0f\n", x[999]);
}
