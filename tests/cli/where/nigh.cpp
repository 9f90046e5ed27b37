// SPDX-License-Identifier: Apache-2.0
// where-nigh: each worker of the default runtime tells its cpu; then a thread of our own does.

#include <cstdio>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <thread>

#include "mask.hpp"

int main() {
  auto const counters = nigh::default_runtime().counters();
  for (std::size_t i = 0; i < counters.size(); ++i)
    std::printf("thread %zu %d\n", i, counters[i].cpu);
  std::string own;
  std::thread([&own] { own = allowed_cpus(); }).join();
  std::printf("own %s\n", own.c_str());
}
