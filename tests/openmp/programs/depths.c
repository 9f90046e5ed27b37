// SPDX-License-Identifier: Apache-2.0
// depths FORM [inside]: how many bytes of stack each level of a recursion needs that goes through a
// construct: a task, an undeferred task, a task with a dependence, both at once, a taskgroup, a
// taskloop, an undeferred one, a region, a region of one thread, one whose condition is false. inside: all
// of it within a region.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { last = 40, low = 20, high = 30 };
static uintptr_t at[last + 1];
static char const* form;
static int is(char const* word) { return strcmp(form, word) == 0; }

__attribute__((noinline)) static void go(int level) {
  char here;
  at[level] = (uintptr_t)&here;
  if (level == last) return;
  if (is("task")) {
#pragma omp task
    go(level + 1);
  } else if (is("undeferred")) {
#pragma omp task if (0)
    go(level + 1);
  } else if (is("depend")) {
#pragma omp task depend(inout : at)
    go(level + 1);
  } else if (is("undeferred-depend")) {
#pragma omp task if (0) depend(inout : at)
    go(level + 1);
  } else if (is("group")) {
#pragma omp taskgroup
    {
#pragma omp task
      go(level + 1);
    }
  } else if (is("loop")) {
#pragma omp taskloop
    for (int i = 0; i < 1; ++i) go(level + 1);
  } else if (is("undeferred-loop")) {
#pragma omp taskloop if (0)
    for (int i = 0; i < 1; ++i) go(level + 1);
  } else if (is("region")) {
#pragma omp parallel
    {
#pragma omp master
      go(level + 1);
    }
  } else if (is("one")) {
#pragma omp parallel num_threads(1)
    go(level + 1);
  } else if (is("false")) {
#pragma omp parallel if (0)
    go(level + 1);
  }
#pragma omp taskwait
}

int main(int count, char** words) {
  form = words[1];
  if (count > 2) {
#pragma omp parallel
    {
#pragma omp single
      go(0);
    }
  } else {
    go(0);
  }
  printf("%ld\n", (long)(at[low] - at[high]) / (high - low));
  return 0;
}
