// SPDX-License-Identifier: Apache-2.0
#include "bench/tasks/rendezvous.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "bench/handshakes.hpp"
#include "bench/pin.hpp"

#if defined(NIGH_WITH_OPENMP)
#include <omp.h>
#endif

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

void pause(double us) {
  if (us > 2000) return std::this_thread::sleep_for(Microseconds(us));
  for (auto const start = Clock::now(); Clock::now() - start < Microseconds(us);) {
  }
}

}  // namespace

std::vector<double> time_rendezvous(ForkTwo const& fork, double pause_us, int count) {
  Meeting meeting;
  std::function<void()> const body = [&meeting] { meeting.attend(); };
  std::vector<double> samples;
  for (int n = -1; n < count; ++n) {  // the first one warms up
    pause(pause_us);
    meeting.open();
    auto const start = Clock::now();
    fork(body);
    std::chrono::duration<double, std::nano> const passed = Clock::now() - start;
    if (meeting.missed()) throw std::runtime_error("two bodies did not run at the same time");
    if (n >= 0) samples.push_back(passed.count());
  }
  return samples;
}

#if defined(NIGH_WITH_OPENMP)

std::vector<double> time_openmp_rendezvous(std::vector<int> const& cpus, double pause_us,
                                           int count) {
#pragma omp parallel num_threads(2)
  pin_this_thread(cpus[static_cast<std::size_t>(omp_get_thread_num())]);
  return time_rendezvous(
      [](std::function<void()> const& body) {
#pragma omp parallel num_threads(2)
        body();
      },
      pause_us, count);
}

std::vector<double> time_openmp_loop_rendezvous(std::vector<int> const& cpus, double pause_us,
                                                int count) {
#pragma omp parallel num_threads(2)
  pin_this_thread(cpus[static_cast<std::size_t>(omp_get_thread_num())]);
  return time_rendezvous(
      [](std::function<void()> const& body) {
#pragma omp parallel for num_threads(2) schedule(static)
        for (int i = 0; i < 2; ++i) body();
      },
      pause_us, count);
}

#endif

}  // namespace bench
