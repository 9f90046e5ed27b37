// SPDX-License-Identifier: Apache-2.0
#include "bench/idle.hpp"

#include <sys/resource.h>

#include <chrono>
#include <thread>

namespace bench {

namespace {

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  auto const seconds = [](timeval const& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

double cpus_used_while_asleep(double seconds, int settle_ms) {
  using Clock = std::chrono::steady_clock;
  std::this_thread::sleep_for(std::chrono::milliseconds(settle_ms));
  auto const start = Clock::now();
  double const before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  double const burnt = cpu_seconds() - before;
  return burnt / std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace bench
