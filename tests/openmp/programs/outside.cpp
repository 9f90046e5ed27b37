// SPDX-License-Identifier: Apache-2.0
// outside MS SPINS [bind]: some regions of two threads, each so long, in a thread of its own, then
// "ready" and regions for so many milliseconds, at least a hundred, while somebody else sets the cpus of this process;
// with "bind", main() sets those of that thread to the last cpu. Then where the thread may run, how
// many cpus it is told, and where the threads of its last region may run.

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "allowed.hpp"

namespace {

std::atomic<bool> is_ready{false};

void regions(int ms, int spins) {
  using clock = std::chrono::steady_clock;
  clock::time_point end = clock::time_point::max();
  std::string where[2];
  for (int i = 0; i < 120 || clock::now() < end; ++i) {
#pragma omp parallel num_threads(2)
    {
      for (int volatile k = 0; k < spins;) k = k + 1;
      where[omp_get_thread_num()] = allowed();
    }
    if (i != 20) continue;
    is_ready = true;
    end = clock::now() + std::chrono::milliseconds(ms);
  }
  cpu_set_t told;
  sched_getaffinity(0, sizeof told, &told);
  std::printf("%s, told %d, region %s %s\n", allowed().c_str(), CPU_COUNT(&told), where[0].c_str(),
              where[1].c_str());
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  std::thread leader(regions, std::atoi(words[1]), std::atoi(words[2]));
  while (!is_ready) usleep(1000);
  std::printf("ready\n");
  std::fflush(stdout);
  if (count > 3) {
    cpu_set_t all, last;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&last);
    for (std::size_t c = CPU_SETSIZE; c-- > 0 && CPU_COUNT(&last) == 0;)
      if (CPU_ISSET(c, &all)) CPU_SET(c, &last);
    pthread_setaffinity_np(leader.native_handle(), sizeof last, &last);
  }
  leader.join();
}
