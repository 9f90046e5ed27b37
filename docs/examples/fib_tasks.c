// SPDX-License-Identifier: Apache-2.0
// Fibonacci's numbers with two OpenMP tasks for each call but the last (docs/trace.md).
#include <stdio.h>
#include <stdlib.h>

static int fib(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(int count, char** words) {
  int result = 0;
#pragma omp parallel
#pragma omp single
  result = fib(count > 1 ? atoi(words[1]) : 10);
  printf("%d\n", result);
  return 0;
}
