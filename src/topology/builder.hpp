// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes topology values: from hwloc's tree, and from another value with fewer cpus.

#include <hwloc.h>

#include <functional>
#include <nigh/topology.hpp>
#include <string>
#include <vector>

namespace nigh {

class topology_builder {
 public:
  using Filter = std::function<bool(int os_index)>;

  // The whole machine, everything allowed. An error when it has cpus nigh cannot number.
  static result<topology> whole(hwloc_topology_t machine, std::string source);

  // `full` without the cpus and NUMA nodes that the filters refuse. A cgroup, an affinity mask and
  // restricted_to() all use it, so restrictions may come in any order.
  static topology restricted(topology full, Filter const& keep_cpu, Filter const& keep_node);

  // This host with domains only: no levels, no distances, no picture. For placing memory by a
  // library that has no hwloc, and is told the domains.
  static topology of_domains(std::vector<domain> domains, std::vector<int> nearest_memory);

 private:
  static void add_cpus(topology& t, hwloc_topology_t machine);
  static void index_cpus(topology& t);
  static void index_domains(topology& t);
  static void describe(topology& t);
};

// hwloc's tree as values. `domain_of` says which domain a PU or a NUMANODE belongs to.
topology_object picture_of(hwloc_obj_t root, std::function<int(hwloc_obj_t)> const& domain_of);

}  // namespace nigh
