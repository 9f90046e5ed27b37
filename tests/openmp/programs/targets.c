// SPDX-License-Identifier: Apache-2.0
// Two regions with a task, and in each what target regions compute that may be tasks: `targets` has them itself, with
// WHOLE; `targets LIBRARY` opens the library that has them within the first region. With PART: that library.
#if defined(PART) || defined(WHOLE)
#include <unistd.h>

long target_regions(long n) {
  long x = n, y = 1, z = 5;
#pragma omp target nowait map(tofrom : x)
  {
    usleep(20000);
    x += 7;
  }
#pragma omp taskwait
#pragma omp task shared(y) depend(out : y)
  {
    usleep(20000);
    y *= 10;
  }
#pragma omp target nowait map(tofrom : y) depend(inout : y)
  y += 3;
#pragma omp target enter data map(to : z) depend(inout : y) nowait
#pragma omp target update to(z) depend(inout : y) nowait
#pragma omp target exit data map(from : z) depend(inout : y) nowait
#pragma omp taskwait
  return 1000 * x + 10 * y + z;
}
#endif
#ifndef PART
#include <dlfcn.h>
#include <stdio.h>

#ifndef WHOLE
static long (*target_regions)(long);
static void find(char const* library) {
  void* const opened = dlopen(library, RTLD_NOW);
  if (opened != NULL) target_regions = (long (*)(long))dlsym(opened, "target_regions");
}
#else
static void find(char const* library) { (void)library; }
#endif

int main(int count, char** words) {
  for (long round = 0; round < 2; ++round) {
    long tasks = 0, made = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(tasks)
      ++tasks;
#pragma omp taskwait
      find(count > 1 ? words[1] : "");
      made = target_regions(round);
    }
    printf("%ld %ld\n", tasks, made);
  }
  return 0;
}
#endif
