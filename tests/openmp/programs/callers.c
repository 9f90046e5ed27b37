// SPDX-License-Identifier: Apache-2.0
// callers LIBRARY: how often preloaded libraries walk through all of the process's libraries while
// the library's 300 places call its OpenMP runtime for the second time. With PART: such a library.
#ifdef PART
#define BARRIERS_10 \
  _Pragma("omp barrier") _Pragma("omp barrier") _Pragma("omp barrier") _Pragma("omp barrier") \
  _Pragma("omp barrier") _Pragma("omp barrier") _Pragma("omp barrier") _Pragma("omp barrier") \
  _Pragma("omp barrier") _Pragma("omp barrier")
#define BARRIERS_100 \
  BARRIERS_10 BARRIERS_10 BARRIERS_10 BARRIERS_10 BARRIERS_10 \
  BARRIERS_10 BARRIERS_10 BARRIERS_10 BARRIERS_10 BARRIERS_10

void call_from_all_places(void) {
#pragma omp parallel num_threads(2)
  { BARRIERS_100 BARRIERS_100 BARRIERS_100 }
}

#ifdef TASKS
void make_a_task(int* from) {
#pragma omp task
  ++*from;
}
#endif
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

typedef int See(struct dl_phdr_info*, size_t, void*);
static atomic_int walks;

static int look_on(struct dl_phdr_info* object, size_t bytes, void* p) {
  void** const call = p;
  int const result = (*(See**)call[0])(object, bytes, call[1]);
  if (result == 0) atomic_fetch_add(&walks, 1);
  return result;
}

// The loader's own takes its place for preloaded libraries, too.
int dl_iterate_phdr(See* see, void* context) {
  int (*next)(See*, void*);
  *(void**)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
  void* call[] = {(void*)&see, context};
  return next(look_on, call);
}

int main(int count, char** words) {
  void* const library = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) return 1;
  void (*call_from_all_places)(void);
  *(void**)&call_from_all_places = dlsym(library, "call_from_all_places");
  call_from_all_places();
  int const before = atomic_load(&walks);
  call_from_all_places();
  printf("%s %d\n", before > 0 ? "some, then" : "none, then", atomic_load(&walks) - before);
  return 0;
}
#endif
