// SPDX-License-Identifier: Apache-2.0
// Fibonacci numbers: two tasks a call, which do nothing but make tasks.
#include "program.hpp"

namespace {

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  int const n = static_cast<int>(task_program::size_from(argc, argv, 27, {1, 60}));
  long found = 0;
  double const seconds = task_program::timed([&] {
#pragma omp parallel
#pragma omp single
    found = fib(n);
  });
  long a = 0, b = 1;
  for (int i = 0; i < n; ++i) {
    long const next = a + b;
    a = b;
    b = next;
  }
  return task_program::report(seconds, found == a);
}
