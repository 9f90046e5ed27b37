// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <stdexcept>

#include "bench/loops/kernels.hpp"
#include "bench/pin.hpp"

namespace bench {

namespace {

template <class Body>
void run(int threads, std::string const& schedule, std::size_t n, Body const& body) {
  if (schedule == "static") {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::size_t i = 0; i < n; ++i) body(i);
  } else if (schedule == "guided") {
#pragma omp parallel for num_threads(threads) schedule(guided)
    for (std::size_t i = 0; i < n; ++i) body(i);
  } else if (schedule == "dynamic") {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::size_t i = 0; i < n; ++i) body(i);
  } else {
    throw std::invalid_argument("no such schedule: " + schedule);
  }
}

}  // namespace

Loops openmp_loops(std::vector<int> const& cpus) {
  int const threads = static_cast<int>(cpus.size());
  auto const pinned = [cpus, threads](std::string const& schedule, std::size_t n,
                                      auto const& body) { run(threads, schedule, n, body); };
  auto const pin = [cpus, threads] {
#pragma omp parallel num_threads(threads)
    pin_this_thread(cpus[static_cast<std::size_t>(omp_get_thread_num())]);
  };
  return {[pin, pinned](std::size_t n, FillElement const& f) {
            pin();
            pinned("static", n, f);
          },
          pinned, pinned};
}

}  // namespace bench
