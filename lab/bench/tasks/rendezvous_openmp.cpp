// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include "bench/pin.hpp"
#include "bench/tasks/rendezvous.hpp"

namespace bench {

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

}  // namespace bench
