// SPDX-License-Identifier: Apache-2.0
// A region whose if() is false, inside another, with tasks: they have ended when it has.

#include <omp.h>

#include <cstdio>

namespace {

[[gnu::noinline]] void inner(bool is_parallel, int& ended) {
#pragma omp parallel if (is_parallel)
  {
    int x[64];
    for (int i = 0; i < 64; ++i) {
#pragma omp task shared(x, ended) firstprivate(i)
      {
        x[i] = 1;
#pragma omp atomic
        ended += x[i];
      }
    }
  }
}

}  // namespace

int main(int count, char**) {
  int ended = 0, seen = 0;
  inner(count > 1000, ended);
  std::printf("%d", ended);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    inner(count > 1000, ended);
    seen = ended;
#pragma omp task shared(ended)
#pragma omp atomic
    ++ended;
#pragma omp taskwait
  }
  std::printf(" %d %d\n", seen, ended);
}
