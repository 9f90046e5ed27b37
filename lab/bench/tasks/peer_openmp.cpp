// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <memory>
#include <nigh/openmp_locality_queues.hpp>

#include "bench/pin.hpp"
#include "bench/tasks/peers.hpp"

namespace bench {

std::vector<Peer> openmp_peers(nigh::topology const& machine, std::vector<int> const& cpus) {
  auto const threads = static_cast<int>(cpus.size());
#pragma omp parallel num_threads(threads)
  pin_this_thread(cpus[static_cast<std::size_t>(omp_get_thread_num())]);

  auto const tasks_only = [threads](long tasks) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (long n = 0; n < tasks; ++n) {
#pragma omp task
      asm volatile("");
    }
  };
  auto const queues = std::make_shared<nigh::openmp::locality_queues<int>>(machine);
  int const domains = machine.cpu_domains();
  auto const with_queues = [threads, queues, domains](long tasks) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (long n = 0; n < tasks; ++n) {
      queues->enqueue(static_cast<int>(n % domains), 0);
#pragma omp task
      queues->process_one([](int) {});
    }
  };
#if defined(__clang__)
  std::string const family = "openmp-clang/";
#else
  std::string const family = "openmp-gcc/";
#endif
  return {{family + "tasks", tasks_only, {}}, {family + "tasks+queues", with_queues, {}}};
}

}  // namespace bench
