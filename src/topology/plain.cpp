// SPDX-License-Identifier: Apache-2.0
// This host as domains alone, which somebody else has found out: for placing memory where there is
// no hwloc.

#include <utility>

#include "topology/builder.hpp"

namespace nigh {

topology topology_builder::of_domains(std::vector<domain> domains,
                                      std::vector<int> nearest_memory) {
  topology machine;
  machine.is_this_host_ = true;
  for (auto const& one : domains) {
    machine.cpu_domains_ += one.cpus.empty() ? 0 : 1;
    machine.cpus_.insert(machine.cpus_.end(), one.cpus.begin(), one.cpus.end());
  }
  machine.domains_ = std::move(domains);
  machine.nearest_memory_ = std::move(nearest_memory);
  return machine;
}

}  // namespace nigh
