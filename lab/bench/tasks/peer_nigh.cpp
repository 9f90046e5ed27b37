// SPDX-License-Identifier: Apache-2.0
#include <nigh/runtime.hpp>

#include "bench/tasks/peers.hpp"

namespace bench {

std::vector<Peer> nigh_peers(nigh::topology const& machine, std::vector<int> const& cpus) {
  nigh::runtime_options options;
  options.machine = &machine;
  options.workers = static_cast<int>(cpus.size());
  auto const runtime = std::make_shared<nigh::runtime>(options);
  int const domains = machine.cpu_domains();

  // As the Jacobi solver does: one worker spawns, all run, each task near one of the domains.
  auto const from_a_worker = [runtime, domains](long tasks) {
    runtime->run([&] {
      for (long n = 0; n < tasks; ++n)
        runtime->spawn(nigh::near(static_cast<int>(n % domains)), [] {});
    });
  };
  auto const from_outside = [runtime, domains](long tasks) {
    for (long n = 0; n < tasks; ++n)
      runtime->spawn(nigh::near(static_cast<int>(n % domains)), [] {});
    runtime->wait();
  };
  return {{"nigh/spawn-in-task", from_a_worker, {}}, {"nigh/spawn-outside", from_outside, {}}};
}

}  // namespace bench
