// SPDX-License-Identifier: Apache-2.0
// many COUNT: so many different regions, again and again; says how many nanoseconds one takes.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" void GOMP_parallel(void (*)(void*), void*, unsigned, unsigned);

// Functions that return at once.
extern "C" char bodies[];
asm(".text\n"
    ".balign 16\n"
    "bodies:\n"
    ".rept 8192\n"
    "ret\n"
    ".balign 16\n"
    ".endr\n");

int main(int count, char** words) {
  constexpr int rounds = 20;
  int const regions = std::min(8192, count > 1 ? std::atoi(words[1]) : 8192);
  double best_ns = 1e9;
#pragma omp parallel num_threads(1)  // so that there is a runtime
  ;
  for (int round = 0; round < rounds; ++round) {
    auto const began = std::chrono::steady_clock::now();
    for (int i = 0; i < regions; ++i) {
      char* const body = bodies + std::ptrdiff_t{16} * i;
      GOMP_parallel(reinterpret_cast<void (*)(void*)>(body), nullptr, 1, 0);
    }
    std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - began;
    best_ns = std::min(best_ns, took.count() / regions);
  }
  std::printf("%.0f\n", best_ns);
}
