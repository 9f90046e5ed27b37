// SPDX-License-Identifier: Apache-2.0
// A library with a region, for programs without OpenMP to open.

#include <omp.h>

extern "C" long sum_to(int n) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += i;
  return sum;
}

// The answer of another library's function in a region of this library's.
extern "C" int within(int (*other)()) {
  int said = 0;
#pragma omp parallel
#pragma omp single
  said = other();
  return said;
}

extern "C" int team() {
  int threads = 0;
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  return threads;
}

// With three threads: 3, if each has its own number.
extern "C" int numbers() {
  int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  sum += omp_get_thread_num();
  return sum;
}

// Outside of this library's regions: of a team of one.
extern "C" void orphaned_barrier() {
#pragma omp barrier
}
extern "C" long orphaned_loop(int n) {
  static long sum;
  sum = 0;
#pragma omp for
  for (int i = 0; i < n; ++i) sum += i;
#pragma omp sections
  {
#pragma omp section
    ++sum;
  }
  return sum;
}
