// SPDX-License-Identifier: Apache-2.0
// Preloaded, it breaks one promise of OpenMP's tasks, named by BROKEN: the checksums of graphs must tell.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool broken(char const* what) {
  char const* const name = getenv("BROKEN");
  return name != NULL && strcmp(name, what) == 0;
}

static void* real(char const* function) {
  void* const found = dlsym(RTLD_NEXT, function);
  if (found == NULL) abort();
  return found;
}

void GOMP_taskwait(void);
void GOMP_taskwait(void) {
  if (!broken("taskwait")) ((void (*)(void))real("GOMP_taskwait"))();
}

enum { gomp_depend = 8 };
typedef void Task(void (*)(void*), void*, void (*)(void*, void*), long, long, bool, unsigned, void**, int, void*);
Task GOMP_task;
void GOMP_task(void (*function)(void*), void* data, void (*copy)(void*, void*), long size, long alignment,
               bool may_wait, unsigned flags, void** depend, int priority, void* detach) {
  if (broken("depend")) flags &= ~(unsigned)gomp_depend;
  ((Task*)real("GOMP_task"))(function, data, copy, size, alignment, may_wait, flags, depend, priority, detach);
}

int __kmpc_omp_taskwait(void* location, int thread);
int __kmpc_omp_taskwait(void* location, int thread) {
  if (broken("taskwait")) return 0;
  return ((int (*)(void*, int))real("__kmpc_omp_taskwait"))(location, thread);
}

int __kmpc_omp_task_with_deps(void* location, int thread, void* task, int count, void* list, int others, void* more);
int __kmpc_omp_task_with_deps(void* location, int thread, void* task, int count, void* list, int others, void* more) {
  if (broken("depend")) return ((int (*)(void*, int, void*))real("__kmpc_omp_task"))(location, thread, task);
  return ((int (*)(void*, int, void*, int, void*, int, void*))real("__kmpc_omp_task_with_deps"))(
      location, thread, task, count, list, others, more);
}
