// SPDX-License-Identifier: Apache-2.0
// A program with an OMPT tool of its own, which does nothing: says how many threads a region has,
// in a task.

#include <omp.h>

#include <cstdio>

extern "C" __attribute__((visibility("default"))) void* ompt_start_tool(unsigned, char const*) {
  return nullptr;
}

int main() {
#pragma omp parallel
#pragma omp master
#pragma omp task
  std::printf("%d\n", omp_get_num_threads());
}
