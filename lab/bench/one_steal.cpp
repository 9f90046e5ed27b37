// SPDX-License-Identifier: Apache-2.0
#include "bench/one_steal.hpp"

#include <atomic>
#include <chrono>
#include <nigh/fork_join.hpp>

namespace bench {

std::vector<double> time_steals(nigh::runtime& runtime, int samples) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  runtime.run([&] {
    for (int s = -1; s < samples; ++s) {  // the first one warms up
      alignas(64) std::atomic<bool> begun{false};
      auto const start = Clock::now();
      auto end = start;
      nigh::fork_join(
          [&] {
            while (!begun.load(std::memory_order_acquire) &&
                   Clock::now() - start < std::chrono::seconds(1)) {
            }
            end = Clock::now();
          },
          [&] { begun.store(true, std::memory_order_release); });
      if (s >= 0) times.push_back(std::chrono::duration<double, std::nano>(end - start).count());
    }
  });
  return times;
}

}  // namespace bench
