// SPDX-License-Identifier: Apache-2.0
// A task with a dependence of a kind that no compiler has yet: it comes after the task before it, and before the one
// behind it. Then a region with usual tasks.
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static long steps, seen[3];

static void step(int k) {
  if (k == 0) usleep(20000);
  seen[k] = steps++;
}

#ifdef __clang__
struct Depend {
  void* address;
  size_t bytes;
  unsigned char kind;
};
extern int __kmpc_global_thread_num(void* where);
extern void* __kmpc_omp_task_alloc(void*, int, int, size_t, size_t, int (*)(int, void*));
extern int __kmpc_omp_task_with_deps(void*, int, void*, int, struct Depend*, int, void*);
static int body(int thread, void* task) {
  (void)thread, (void)task;
  step(1);
  return 0;
}
static void strange_task(long* x) {
  enum { tied = 1, task_bytes = 40, of_no_compiler = 16 };
  struct Depend list[1] = {{x, sizeof *x, of_no_compiler}};
  int const me = __kmpc_global_thread_num(NULL);
  __kmpc_omp_task_with_deps(NULL, me, __kmpc_omp_task_alloc(NULL, me, tied, task_bytes, 0, body), 1,
                            list, 0, NULL);
}
#else
extern void GOMP_task(void (*)(void*), void*, void*, long, long, _Bool, unsigned, void**, int, void*);
static void body(void* data) {
  (void)data;
  step(1);
}
static void strange_task(long* x) {
  enum { has_depend = 8, of_no_compiler = 9 };
  void* object[2] = {x, (void*)of_no_compiler};
  void* list[] = {NULL, (void*)1, NULL, NULL, NULL, object};
  GOMP_task(body, NULL, NULL, 0, 1, 1, has_depend, list, 0, NULL);
}
#endif

int main(void) {
  long x = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : x)
    step(0);
    strange_task(&x);
#pragma omp task depend(in : x)
    step(2);
  }
  printf("%ld %ld %ld\n", seen[0], seen[1], seen[2]);
  long sum = 0;
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < 100; ++k)
#pragma omp task shared(sum)
  {
#pragma omp atomic
    sum += k;
  }
  printf("%ld\n", sum);
  return 0;
}
