/* SPDX-License-Identifier: Apache-2.0 */
/* Calls OpenMP's functions where they are there, and is not linked to a runtime. */

#include <stdarg.h>
#include <stdio.h>

extern void omp_set_num_threads(int) __attribute__((weak));
extern void omp_set_dynamic(int) __attribute__((weak));
extern int omp_get_dynamic(void) __attribute__((weak));
extern void omp_set_nested(int) __attribute__((weak));
extern void GOMP_parallel(void (*)(void*), void*, unsigned, unsigned) __attribute__((weak));
extern unsigned GOMP_parallel_reductions(void (*)(void*), void*, unsigned, unsigned)
    __attribute__((weak));
extern void __kmpc_push_num_threads(void*, int, int) __attribute__((weak));
extern void __kmpc_fork_call(void*, int, void (*)(int*, int*, ...), ...) __attribute__((weak));

static void body(void* runs) { ++*(int*)runs; }
static void task(int* thread, int* number, ...) {
  va_list list;
  va_start(list, number);
  *va_arg(list, int*) += 1 + *thread + *number;
  va_end(list);
}

static int regions(void) {
  int runs = 0;
  if (GOMP_parallel)
    GOMP_parallel(body, &runs, 0, 0);
  else
    body(&runs);
  if (GOMP_parallel_reductions)
    runs += GOMP_parallel_reductions(body, &runs, 0, 0) != 1;
  else
    body(&runs);
  if (__kmpc_push_num_threads) __kmpc_push_num_threads(0, 0, 2);
  int zero = 0;
  if (__kmpc_fork_call)
    __kmpc_fork_call(0, 1, task, &runs);
  else
    task(&zero, &zero, &runs);
  return runs;
}

int main(void) {
  if (omp_set_num_threads) omp_set_num_threads(2);
  if (omp_set_dynamic) omp_set_dynamic(1);
  if (omp_set_nested) omp_set_nested(1);
  printf("dynamic %d\n", omp_get_dynamic ? omp_get_dynamic() : 0);
  printf("regions %d\n", regions());
}
