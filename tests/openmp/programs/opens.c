/* SPDX-License-Identifier: Apache-2.0 */
/* opens LIBRARY...: a program in C without OpenMP calls each of the libraries in turn, twice,
   closing them in between; then the last one in a region of the first. Without any, it does
   nothing.
   opens --bound LIBRARY OTHER: the first one is opened and bound, then the other one and its
   runtime are opened for all, and only then is the first one called.
   opens --over FILE LIBRARY: the file takes the place of standard error. */

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int call_the_bound_one(char const* library, char const* other) {
  void* const bound = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  int (*numbers)(void);
  if (bound == NULL || dlopen(other, RTLD_NOW | RTLD_GLOBAL) == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  *(void**)&numbers = dlsym(bound, "numbers");
  printf("%d of 3\n", numbers());
  return 0;
}

static int write_over(char const* file, char const* library) {
  int (*team)(void);
  if (freopen(file, "w", stderr) == NULL) return 1;
  *(void**)&team = dlsym(dlopen(library, RTLD_NOW | RTLD_LOCAL), "team");
  printf("team %d\n", team());
  return 0;
}

int main(int count, char** words) {
  if (count == 4 && strcmp(words[1], "--over") == 0) return write_over(words[2], words[3]);
  if (count == 4 && strcmp(words[1], "--bound") == 0) return call_the_bound_one(words[2], words[3]);
  for (int round = 0; round < 2; ++round)
    for (int i = 1; i < count; ++i) {
      void* const library = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
      if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
      }
      long (*sum_to)(int);
      int (*team)(void);
      *(void**)&sum_to = dlsym(library, "sum_to");
      *(void**)&team = dlsym(library, "team");
      printf("%ld\n", sum_to(100));
      fprintf(stderr, "team %d\n", team());
      dlclose(library);
    }
  if (count > 2) {
    int (*within)(int (*)(void));
    int (*team)(void);
    *(void**)&within = dlsym(dlopen(words[1], RTLD_NOW | RTLD_LOCAL), "within");
    *(void**)&team = dlsym(dlopen(words[count - 1], RTLD_NOW | RTLD_LOCAL), "team");
    fprintf(stderr, "inside team %d\n", within(team));
  }
  puts("done");
  return 0;
}
