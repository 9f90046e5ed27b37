// SPDX-License-Identifier: Apache-2.0
#include "bench/loops/fork_union.hpp"

#include <fork_union.hpp>
#include <memory>

#include "bench/pin.hpp"
#include "bench/tasks/rendezvous.hpp"

namespace bench {

// Its threads spin from the first loop to the pool's end, so the pool lives for one measurement.
std::vector<double> time_fork_union_rendezvous(std::vector<int> const& cpus, double pause_us,
                                               int count) {
  auto const pool = std::make_unique<ashvardanian::fork_union::basic_pool_t>();
  if (!pool->try_spawn(2)) throw std::runtime_error("ForkUnion started no threads");
  pool->for_threads([&cpus](std::size_t thread) noexcept { pin_this_thread(cpus[thread]); });
  return time_rendezvous(
      [&pool](std::function<void()> const& body) {
        pool->for_n(std::size_t{2}, [&body](std::size_t) noexcept { body(); });
      },
      pause_us, count);
}

}  // namespace bench
