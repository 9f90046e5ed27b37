// SPDX-License-Identifier: Apache-2.0
// following CHANGES [COMMAND]: one region of tasks, until each of its threads has changed its cpus
// so often (or for 60 s), but not before COMMAND, which is started with the region, has ended.
// Prints where each thread has run tasks, one place after the other.
#include <omp.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "allowed.hpp"

namespace {

struct alignas(64) Thread {
  std::string last, all;
  std::atomic<int> changes{-1};

  void look() {
    auto const now = allowed();
    if (now == last) return;
    all += (all.empty() ? "" : " ") + now;
    last = now;
    ++changes;
  }
};

void spin() {
  auto const end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  int const wanted = std::atoi(words[1]);
  std::atomic<bool> has_company{count > 2};
  std::thread beside;
  std::vector<Thread> threads(static_cast<std::size_t>(omp_get_max_threads()));
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  auto const goes_on = [&] {
    if (std::chrono::steady_clock::now() > end) return false;
    if (has_company) return true;
    for (Thread const& t : threads)
      if (t.changes < wanted) return true;
    return false;
  };
  long done = 0, made = 0;
#pragma omp parallel
#pragma omp single
  {
    if (has_company) beside = std::thread([&] { has_company = system(words[2]) == -1; });
    while (goes_on()) {
      for (int i = 0; i < 32; ++i) {
        ++made;
#pragma omp task shared(threads, done)
        {
          threads[static_cast<std::size_t>(omp_get_thread_num())].look();
          spin();
#pragma omp atomic
          ++done;
        }
      }
#pragma omp taskwait
    }
  }
  if (beside.joinable()) beside.join();
  for (Thread const& t : threads) std::printf("%s\n", t.all.c_str());
  return done == made ? 0 : 1;
}
