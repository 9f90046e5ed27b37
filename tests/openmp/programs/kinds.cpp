// SPDX-License-Identifier: Apache-2.0
// Regions of all kinds. Its output does not depend on how many threads they have.

#include <omp.h>

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace {

constexpr int n = 1000;

void print(char const* what, long value) { std::printf("%s %ld\n", what, value); }

long sum(std::vector<long> const& v) { return std::accumulate(v.begin(), v.end(), 0L); }

long fib(int i) {
  if (i < 2) return i;
  long a = 0;
  long b = 0;
#pragma omp task shared(a)
  a = fib(i - 1);
#pragma omp task shared(b)
  b = fib(i - 2);
#pragma omp taskwait
  return a + b;
}

void loops() {
  std::vector<long> v(n);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] = i;
  print("loop", sum(v));
#pragma omp parallel for schedule(static, 3)
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] += 1;
  print("static", sum(v));
#pragma omp parallel for schedule(dynamic, 5)
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] += 2;
  print("dynamic", sum(v));
#pragma omp parallel for schedule(monotonic : dynamic)
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] += 2;
  print("monotonic dynamic", sum(v));
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] += 3;
  print("guided", sum(v));
#pragma omp parallel for schedule(monotonic : guided, 2)
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] += 3;
  print("monotonic guided", sum(v));
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] += 4;
  print("runtime", sum(v));
#pragma omp parallel for schedule(nonmonotonic : runtime)
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] += 4;
  print("nonmonotonic runtime", sum(v));
#pragma omp parallel for schedule(monotonic : runtime)
  for (int i = 0; i < n; ++i) v[static_cast<std::size_t>(i)] += 4;
  print("monotonic runtime", sum(v));
#pragma omp parallel for ordered schedule(dynamic)
  for (int i = 0; i < 5; ++i)
#pragma omp ordered
    print("ordered", i);
}

void others() {
  long total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int i = 0; i < n; ++i) total += i;
  print("reduction", total);
  total = 0;
#pragma omp parallel reduction(task, + : total)
  {
#pragma omp for
    for (int i = 0; i < n; ++i) total += i;
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 10; ++i)
#pragma omp task in_reduction(+ : total)
      total += i;
  }
  print("task reduction", total);
  long a = 0;
  long b = 0;
  long c = 0;
#pragma omp parallel sections
  {
#pragma omp section
    a = 1;
#pragma omp section
    b = 2;
#pragma omp section
    c = 3;
  }
  print("sections", a + b + c);
#pragma omp parallel
#pragma omp single
  a = fib(15);
  print("tasks", a);
  total = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop reduction(+ : total)
  for (int i = 0; i < n; ++i) total += i;
  print("taskloop", total);
  total = 0;
#pragma omp parallel if (total > 0) num_threads(2)
#pragma omp atomic
  total += 1;
  print("if", total);
}

void clauses() {
  for (int threads : {1, 2, 3, 5}) {
    int had = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    had = omp_get_num_threads();
    print("num_threads", had);
  }
  int after = omp_get_max_threads();
  long size = 0;
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
  print("within omp_get_max_threads", size <= after);
  omp_set_num_threads(1);
#pragma omp parallel
#pragma omp single
  size = omp_get_num_threads();
  print("omp_set_num_threads", size);
  omp_set_num_threads(after);
  print("omp_get_max_threads", omp_get_max_threads() == after);
}

void nested() {
  long total = 0;
#pragma omp parallel num_threads(2) reduction(+ : total)
  {
#pragma omp parallel num_threads(3) reduction(+ : total)
    total += omp_get_level();
  }
  print("nested, inactive", total);
  int const levels = omp_get_max_active_levels();
  omp_set_max_active_levels(3);
  total = 0;
#pragma omp parallel num_threads(2) reduction(+ : total)
  {
#pragma omp parallel num_threads(3) reduction(+ : total)
    {
#pragma omp parallel for reduction(+ : total) num_threads(2)
      for (int i = 0; i < 10; ++i) total += omp_get_active_level();
    }
  }
  print("nested, active", total);
  omp_set_max_active_levels(levels);
  // Tasks at the closing barrier begin regions, too.
  total = 0;
#pragma omp parallel shared(total)
#pragma omp master
  for (int t = 0; t < 8; ++t)
#pragma omp task shared(total)
  {
    long mine = 0;
#pragma omp parallel for reduction(+ : mine)
    for (int i = 0; i < 10; ++i) mine += i;
#pragma omp atomic
    total += mine;
  }
  print("regions in tasks", total);
}

// Teams that grow and shrink, and threads that all end in between.
void sizes() {
  long total = 0;
  for (int round = 0; round < 20; ++round) {
    for (int threads : {4, 2, 5, 1, 3}) {
#pragma omp parallel num_threads(threads) reduction(+ : total)
      total += omp_get_thread_num();
    }
    if (round % 7 == 6 && omp_pause_resource_all(omp_pause_soft) != 0) print("not paused", round);
  }
  print("sizes", total);
}

void exceptions() {
  long caught = 0;
#pragma omp parallel for reduction(+ : caught)
  for (int i = 0; i < 100; ++i) {
    try {
      if (i % 3 == 0) throw std::runtime_error("x");
    } catch (std::runtime_error const&) {
      ++caught;
    }
  }
  print("exceptions", caught);
}

// clang passes each of these by itself.
void many_variables() {
  long a0 = 0, a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, a8 = 8, a9 = 9, b0 = 0,
       b1 = 1, b2 = 2, b3 = 3, b4 = 4, b5 = 5, b6 = 6, b7 = 7, b8 = 8, b9 = 9, c0 = 0, c1 = 1,
       c2 = 2, c3 = 3, c4 = 4, c5 = 5, c6 = 6, c7 = 7, c8 = 8, c9 = 9, d0 = 0, d1 = 1, d2 = 2,
       d3 = 3, d4 = 4;
#pragma omp parallel
#pragma omp single
  {
    a0 += 1;
    a1 += 1;
    a2 += 1;
    a3 += 1;
    a4 += 1;
    a5 += 1;
    a6 += 1;
    a7 += 1;
    a8 += 1;
    a9 += 1;
    b0 += 2;
    b1 += 2;
    b2 += 2;
    b3 += 2;
    b4 += 2;
    b5 += 2;
    b6 += 2;
    b7 += 2;
    b8 += 2;
    b9 += 2;
    c0 += 3;
    c1 += 3;
    c2 += 3;
    c3 += 3;
    c4 += 3;
    c5 += 3;
    c6 += 3;
    c7 += 3;
    c8 += 3;
    c9 += 3;
    d0 += 4;
    d1 += 4;
    d2 += 4;
    d3 += 4;
    d4 += 4;
  }
  print("many variables", a0 + 2 * a1 + 3 * a2 + 4 * a3 + 5 * a4 + 6 * a5 + 7 * a6 + 8 * a7 +
                              9 * a8 + a9 + b0 + 2 * b1 + 3 * b2 + 4 * b3 + 5 * b4 + 6 * b5 +
                              7 * b6 + 8 * b7 + 9 * b8 + b9 + c0 + 2 * c1 + 3 * c2 + 4 * c3 +
                              5 * c4 + 6 * c5 + 7 * c6 + 8 * c7 + 9 * c8 + c9 + d0 + 2 * d1 +
                              3 * d2 + 4 * d3 + 5 * d4);
}

}  // namespace

int main() {
  omp_set_dynamic(0);
  loops();
  others();
  clauses();
  nested();
  sizes();
  exceptions();
  many_variables();
}
