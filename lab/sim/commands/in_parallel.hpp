// SPDX-License-Identifier: Apache-2.0
#pragma once
// Simulations that have nothing to do with each other, several at a time.

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#include "base/atomic.hpp"
#include "platform/progress.hpp"

namespace nigh::cli {

// Calls each(0) to each(n - 1), as many at a time as this process may use cpus; which thread calls
// which is not told, so results go to places of their own.
template <class Each>
void in_parallel(std::size_t n, Each each) {
  platform::Progress progress(static_cast<int>(n));
  progress.step("simulations");
  sync::atomic<std::size_t> next{0};
  auto const work = [&] {
    for (auto i = next.fetch_add(1, sync::relaxed); i < n; i = next.fetch_add(1, sync::relaxed)) {
      each(i);
      progress.step("simulations");
    }
  };
  std::vector<std::jthread> others;
  auto const cpus = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  for (std::size_t t = 1; t < std::min(cpus, n); ++t) others.emplace_back(work);
  work();
}

}  // namespace nigh::cli
