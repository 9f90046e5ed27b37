// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/parallel_invoke.h>

#include "bench/pin.hpp"
#include "bench/tasks/rendezvous.hpp"
#include "workloads/team.hpp"

namespace bench {

std::vector<double> time_tbb_rendezvous(std::vector<int> const& cpus, double pause_us, int count) {
  workloads::TeamOptions options;
  options.cpus = cpus;
  options.pin = pin_this_thread;
  static auto const team = make_tbb_team(options);
  std::vector<double> samples;
  team->run([&] {
    samples = time_rendezvous(
        [](std::function<void()> const& body) { oneapi::tbb::parallel_invoke(body, body); },
        pause_us, count);
  });
  return samples;
}

}  // namespace bench
