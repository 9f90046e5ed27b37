// SPDX-License-Identifier: Apache-2.0
#include "bench/cache_line.hpp"

#include <atomic>
#include <chrono>

#include "bench/crew.hpp"

namespace bench {

std::vector<double> time_cache_line(std::vector<int> const& cpus, int samples) {
  constexpr int trips = 100;
  std::vector<double> times;
  if (cpus.size() < 2) return times;
  alignas(64) std::atomic<int> line{0};  // even: the first thread's turn
  Crew crew({cpus[0], cpus[1]});
  crew.run([&](int thread) {
    int turn = thread;
    auto const one_way = [&] {
      while (line.load(std::memory_order_acquire) != turn) {
      }
      line.store(turn + 1, std::memory_order_release);
      turn += 2;
    };
    for (int s = -1; s < samples; ++s) {  // the first one waits for both to be there
      auto const start = std::chrono::steady_clock::now();
      for (int n = 0; n < trips; ++n) one_way();
      std::chrono::duration<double, std::nano> const passed =
          std::chrono::steady_clock::now() - start;
      if (thread == 0 && s >= 0) times.push_back(passed.count() / trips);
    }
  });
  return times;
}

}  // namespace bench
