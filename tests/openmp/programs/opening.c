// SPDX-License-Identifier: Apache-2.0
// opening LIBRARY...: a program without OpenMP that opens libraries whose constructors begin a
// region with tasks. It prints what they have computed. With PART: such a library. With ALONE: a
// program that does the same, and exports nothing where it is linked by -no-pie.
#if defined PART || defined ALONE
#include <omp.h>
#include <stdio.h>

int total;

static int fib(int n) {
  int a, b;
  if (n < 2) return n;
#pragma omp task shared(a)
  a = fib(n - 1);
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

// Each thread uses what it may have to ask the runtime for.
__attribute__((constructor)) static void compute(void) {
  omp_nest_lock_t lock;
  omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(4)
  {
    int chosen = 0, mine = fib(10);
#pragma omp single copyprivate(chosen)
    chosen = 5;
#pragma omp for schedule(dynamic) reduction(+ : total)
    for (int i = 0; i < 100; ++i) total += i;
#pragma omp single
#pragma omp taskloop shared(total)
    for (int i = 0; i < 10; ++i) {
#pragma omp atomic
      total += i;
    }
#pragma omp taskgroup
    {
#pragma omp task shared(total, lock)
      {
        omp_set_nest_lock(&lock);
        total += mine + chosen + omp_in_final();
        omp_unset_nest_lock(&lock);
      }
#pragma omp taskyield
    }
    omp_set_num_threads(3);
#pragma omp barrier
#pragma omp atomic
    total += omp_get_max_threads();
  }
  omp_destroy_nest_lock(&lock);
}

#ifdef ALONE
int main(void) {
  printf("%d\n", total);
  return 0;
}
#endif
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    void* const library = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
    int const* const total = library == NULL ? NULL : (int const*)dlsym(library, "total");
    if (total == NULL) return 1;
    printf("%d\n", *total);
  }
  return 0;
}
#endif
