// SPDX-License-Identifier: Apache-2.0
// where-tbb: how many threads oneTBB takes, and where all of them may run while all are at work.

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "mask.hpp"

int main() {
  int const threads = tbb::info::default_concurrency();
  std::vector<std::string> masks(static_cast<std::size_t>(threads));
  std::atomic<int> here{0};
  // Each waits until all have come, so that each of them is another thread.
  tbb::parallel_for(
      0, threads, 1,
      [&](int i) {
        masks[static_cast<std::size_t>(i)] =
            std::to_string(tbb::this_task_arena::current_thread_index()) + " " + allowed_cpus();
        for (++here; here.load() < threads;) std::this_thread::yield();
      },
      tbb::static_partitioner());
  for (auto const& mask : masks) std::printf("thread %s\n", mask.c_str());
}
