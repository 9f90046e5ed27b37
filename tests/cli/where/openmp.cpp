// SPDX-License-Identifier: Apache-2.0
// where-openmp-*: each thread of a team tells where it may run; then what schedule(runtime) means.

#include <omp.h>

#include <cstdio>
#include <string>
#include <vector>

#include "mask.hpp"

int main() {
  std::vector<std::string> masks(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  masks[static_cast<std::size_t>(omp_get_thread_num())] = allowed_cpus();
  for (std::size_t i = 0; i < masks.size(); ++i)
    std::printf("thread %zu %s\n", i, masks[i].c_str());
  omp_sched_t kind{};
  int chunk = 0;
  omp_get_schedule(&kind, &chunk);
  std::printf("schedule %d,%d\n", static_cast<int>(static_cast<unsigned>(kind) & 0xFU), chunk);
}
