// SPDX-License-Identifier: Apache-2.0
// Tasks with an affinity clause, or that depend on what they work on: how many ran on a thread with
// the number that scripted_domains.cpp takes for near. affinity N: so many tasks; with the word
// depend, by dependences. affinity loop: a thread makes tasks of both domains when all others have
// come to the end of the loop.
#include <omp.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {
constexpr long block = 1 << 16;

void work(char* b, int domain, long& near, long& all) {
  for (int i = 0; i < 20000; ++i) b[i % 4096] = static_cast<char>(b[i % 4096] + i);
#pragma omp atomic
  ++all;
  if (omp_get_thread_num() % 2 != domain) return;
#pragma omp atomic
  ++near;
}

void loop([[maybe_unused]] char* memory) {
  long sum = 0;
#pragma omp parallel
#pragma omp for schedule(dynamic, 1)
  for (int i = 0; i < 4; ++i) {
    if (i == 1) usleep(20000);
    for (int k = 0; k < 2000; ++k) {
#pragma omp task depend(inout : memory[k % 2 * block]) shared(sum)
#pragma omp atomic
      ++sum;
    }
  }
  std::printf("loop %ld\n", sum);
}
}  // namespace

int main(int count, char** words) {
  int const tasks = count > 1 ? std::atoi(words[1]) : 100;
  bool const by_depend = count > 2 && std::strcmp(words[2], "depend") == 0;
  auto* const memory = static_cast<char*>(std::aligned_alloc(2 * block, 4 * block));
  std::memset(memory, 0, 4 * block);
  if (count > 1 && std::strcmp(words[1], "loop") == 0) {
    loop(memory);
    std::free(memory);
    return 0;
  }
  long near = 0, all = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; ++i) {
    int const domain = i / 3 % 2;
    char* const b = memory + domain * block + i % 2 * 2 * block;
    if (by_depend) {
#pragma omp task depend(inout : b[0]) shared(near, all) firstprivate(b, domain)
      work(b, domain, near, all);
    } else {
#if defined(__clang__)
#pragma omp task affinity(b[0 : 4096]) shared(near, all) firstprivate(b, domain)
#else
#pragma omp task shared(near, all) firstprivate(b, domain)
#endif
      work(b, domain, near, all);
    }
  }
  std::printf("%ld of %ld near\n", near, all);
  std::free(memory);
}
