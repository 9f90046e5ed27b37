// SPDX-License-Identifier: Apache-2.0
// Two threads of the program, each in a region, and each waits in it until the other one is in its
// own: as two processes do that send each other messages.

#include <sched.h>

#include <atomic>
#include <cstdio>
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

}  // namespace

int main() {
  std::thread other(meet);
  meet();
  other.join();
  std::printf("%d\n", arrived.load());
}
