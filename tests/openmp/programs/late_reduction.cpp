// SPDX-License-Identifier: Apache-2.0
// A loop with a reduction of tasks, apart from task_corners.cpp: in a program of gcc's that has such a loop no thread waits
// in the runtime's barriers for the region's first task.
#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

// The others are in the loop's barrier when the first task has them come back, and run those of the loop's reduction.
static long reduction_of_a_loop() {
  long sum = 0;
  std::atomic<int> before{0};
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 0) {
      usleep(5000);
#pragma omp task shared(before)
      ++before;
    }
#pragma omp for reduction(task, + : sum) schedule(static, 1)
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < (k == 0 ? 100 : 0); ++i) {
#pragma omp task in_reduction(+ : sum)
        {
          sum += i;
          usleep(30);
        }
      }
  }
  return sum + before;
}

int main() { std::printf("%ld\n", reduction_of_a_loop()); }
