// SPDX-License-Identifier: Apache-2.0
#include "cli/machine_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.hpp"
#include "cli/coordinator_socket.hpp"
#include "cli/installed_files.hpp"
#include "cli/pools.hpp"
#include "coordinator/client/status.hpp"

namespace nigh::cli {
namespace {

int cpus_in(topology_object const& object) {
  int count = object.type == topology_object::kind::cpu ? 1 : 0;
  for (auto const& child : object.children) count += cpus_in(child);
  return count;
}

// Nothing where no coordinator can say which programs share the host.
std::vector<std::string> pools_of_programs() {
  std::vector<std::string> found;
  constexpr int patience_ms = 500;
  auto const status = coordinator::query_status(coordinator_socket(), patience_ms);
  if (!status) return found;
  PoolNames pools;
  for (auto const& p : status->programs)
    if (auto const names = pools.of(p, status->host); !names.empty())
      found.push_back(
          fmt::format("{} ({}): {}", base::printable(p.name.view()), p.pid, listed(names)));
  return found;
}

}  // namespace

Facts facts_of(topology const& machine) {
  Facts facts;
  facts.limits = platform::read_limits();
  facts.probes = platform::probe_system();
  facts.cpus_allowed = static_cast<int>(machine.cpus().size());
  facts.cpus_present = std::max(cpus_in(machine.root()), facts.cpus_allowed);
  facts.cores_allowed = machine.cores();
  facts.domains = machine.cpu_domains();
  facts.has_numa_vm = platform::is_runnable(program_file("numa-vm"));
  facts.pools = pools_of_programs();
  return facts;
}

}  // namespace nigh::cli
