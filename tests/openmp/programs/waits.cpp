// SPDX-License-Identifier: Apache-2.0
// waits: two threads of the program, each in a region, and each waits in it until the other one is in
// its own.
// waits IN OUT: one process of a ring. In each region it passes a byte on and waits for its
// neighbour's; these are numbers of open descriptors.

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr int rounds = 3;
std::atomic<int> arrived{0};

void meet() {
  for (int round = 1; round <= rounds; ++round) {
#pragma omp parallel
    {
#pragma omp master
      {
        arrived.fetch_add(1);
        while (arrived.load() < 2 * round) sched_yield();
      }
    }
  }
}

int pass_on(int in, int out) {
  int passed = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma omp parallel
    {
#pragma omp master
      {
        char byte = 'x';
        if (write(out, &byte, 1) == 1 && read(in, &byte, 1) == 1) ++passed;
      }
    }
  }
  return passed;
}

}  // namespace

int main(int count, char** words) {
  if (count == 3) {
    std::printf("%d\n", pass_on(std::atoi(words[1]), std::atoi(words[2])));
    return 0;
  }
  std::thread other(meet);
  meet();
  other.join();
  std::printf("%d\n", arrived.load());
}
