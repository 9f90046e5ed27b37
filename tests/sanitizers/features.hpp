// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by the programs of this folder: features, each a function that uses one part of nigh as a program
// does and returns whether its answer is right; and a way to have two threads at work at once.

#include <atomic>
#include <chrono>
#include <span>
#include <thread>

namespace user {

struct feature {
  char const* name;
  bool (*works)();
};
std::span<feature const> task_features();
std::span<feature const> thread_features();
std::span<feature const> loop_features();
std::span<feature const> algorithm_features();
std::span<feature const> c_features();

// Relaxed on purpose: a detector of races sees no order in it. So only nigh orders what the threads do. On a cache line of
// its own: of each 8 bytes ThreadSanitizer knows the last few accesses, and those to this would displace others.
class alignas(64) meeting {
 public:
  void come() noexcept { came_.fetch_add(1, std::memory_order_relaxed); }
  // Until so many have come: mostly at once, but ten seconds where others keep the machine busy.
  bool await(int goal, std::chrono::milliseconds at_most = std::chrono::seconds(10)) const noexcept {
    auto const end = std::chrono::steady_clock::now() + at_most;
    while (came_.load(std::memory_order_relaxed) < goal) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }

 private:
  std::atomic<int> came_{0};
};

}  // namespace user
