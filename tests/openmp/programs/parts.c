// SPDX-License-Identifier: Apache-2.0
// A program without OpenMP that opens a library with it: parts LIBRARY [RUNTIME]. How many of two
// threads took part in regions of the library, before and after another runtime was opened for all.
// With PART: the library.
#ifdef PART
#include <omp.h>
#include <unistd.h>

static int count(int const* seen) { return seen[0] + seen[1]; }

int first_region(void) {
  int seen[64] = {0};
#pragma omp parallel num_threads(2)
  seen[omp_get_thread_num()] = 1;
  return count(seen);
}

int second_region(void) {
  int seen[64] = {0};
#pragma omp parallel num_threads(2)
  { seen[omp_get_thread_num()] = 1; }
  return count(seen);
}

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif
// Not inlined, so that the barrier is a jump at the end.
APART static void meet(void) {
#pragma omp barrier
}

int meeting_region(void) {
  int members = 0, seen[2] = {0};
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) usleep(20000);
#pragma omp atomic
    ++members;
    meet();
#pragma omp atomic read
    seen[omp_get_thread_num()] = members;
  }
  return seen[0] + seen[1] == 4 ? members : 0;
}
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** words) {
  void* const part = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (part == NULL) return 1;
  int (*const first)(void) = (int (*)(void))dlsym(part, "first_region");
  int (*const second)(void) = (int (*)(void))dlsym(part, "second_region");
  int (*const meeting)(void) = (int (*)(void))dlsym(part, "meeting_region");
  printf("%d %d\n", first(), meeting());
  if (count < 3) return 0;
  if (dlopen(words[2], RTLD_LAZY | RTLD_GLOBAL) == NULL) return 2;
  printf("%d %d\n", first(), second());
  void* const other = dlopen("libz.so.1", RTLD_LAZY);
  if (other != NULL) dlclose(other);
  printf("%d %d %d\n", first(), second(), meeting());
  return 0;
}
#endif
