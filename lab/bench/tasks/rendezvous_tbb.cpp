// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>

#include "bench/pin.hpp"
#include "bench/tasks/rendezvous.hpp"
#include "workloads/team.hpp"

namespace bench {

namespace {

std::vector<double> time_in_team(std::vector<int> const& cpus, double pause_us, int count,
                                 ForkTwo const& fork) {
  workloads::TeamOptions options;
  options.cpus = cpus;
  options.pin = pin_this_thread;
  static auto const team = make_tbb_team(options);
  std::vector<double> samples;
  team->run([&] { samples = time_rendezvous(fork, pause_us, count); });
  return samples;
}

}  // namespace

std::vector<double> time_tbb_rendezvous(std::vector<int> const& cpus, double pause_us, int count) {
  return time_in_team(cpus, pause_us, count, [](std::function<void()> const& body) {
    oneapi::tbb::parallel_invoke(body, body);
  });
}

std::vector<double> time_tbb_loop_rendezvous(std::vector<int> const& cpus, double pause_us,
                                             int count) {
  return time_in_team(cpus, pause_us, count, [](std::function<void()> const& body) {
    oneapi::tbb::parallel_for(0, 2, [&body](int) { body(); });
  });
}

}  // namespace bench
