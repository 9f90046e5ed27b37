/* SPDX-License-Identifier: Apache-2.0 */
/* opens LIBRARY...: a program in C without OpenMP calls each of the libraries in turn, twice,
   closing them in between; then the last one in a region of the first. Without any, it does
   nothing. */

#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** words) {
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
