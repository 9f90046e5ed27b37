// SPDX-License-Identifier: Apache-2.0
#pragma once
// All that is asked of a topology, with what must be true of the answers.

#include <hwloc.h>

#include <algorithm>
#include <cstddef>
#include <nigh/topology.hpp>
#include <set>
#include <vector>

#include "fuzz/entry.hpp"

namespace fuzz {

// hwloc loads its plugins for the first topology and unloads them with the last: most of the time
// of an input, unless one stays.
inline void keep_plugins() {
  static hwloc_topology_t const stays = [] {
    hwloc_topology_t t = nullptr;
    require(hwloc_topology_init(&t) == 0, "hwloc has memory");
    return t;
  }();
  static_cast<void>(stays);
}

inline std::size_t objects_of(nigh::topology_object const& o) {
  std::size_t n = 1;
  for (auto const& child : o.children) n += objects_of(child);
  return n;
}

inline void ask_everything(nigh::topology const& machine) {
  auto const& cpus = machine.cpus();
  require(!cpus.empty(), "a machine has a cpu");
  std::set<int> const different(cpus.begin(), cpus.end());
  require(different.size() == cpus.size() && *different.begin() >= 0, "each cpu is there once");
  require(machine.cores() >= 1 && machine.cores() <= static_cast<int>(cpus.size()),
          "cores hold cpus");
  int const domains = static_cast<int>(machine.domains().size());
  require(domains >= 1 && machine.cpu_domains() >= 1 && machine.cpu_domains() <= domains,
          "some domain has cpus");
  int const some = std::min(domains, 16);
  for (int a = 0; a < some; ++a) {
    require(machine.domains()[static_cast<std::size_t>(a)].index == a, "domains are in order");
    for (int b = 0; b < some; ++b) require(machine.distance(a, b) > 0, "distances are positive");
    auto const near = machine.nearest_memory(a);
    require(near >= -1 && near < domains, "the nearest memory is one of its domains");
  }
  auto const few = std::min<std::size_t>(cpus.size(), 16);
  for (std::size_t a = 0; a < few; ++a) {
    auto const domain = machine.domain_of_cpu(cpus[a]);
    require(domain >= 0 && domain < machine.cpu_domains(), "a cpu is in a domain");
    for (std::size_t b = 0; b < few; ++b) {
      static_cast<void>(machine.common_level(cpus[a], cpus[b]));
      require(machine.cpu_distance(cpus[a], cpus[b]) >= 0, "distances are not negative");
    }
    static_cast<void>(machine.smt_siblings(cpus[a]));
  }
  for (auto const l : {nigh::level::cpu, nigh::level::core, nigh::level::l2, nigh::level::l3,
                       nigh::level::domain, nigh::level::package, nigh::level::host}) {
    std::size_t inside = 0;
    for (auto const& group : machine.groups(l)) inside += group.size();
    require(inside == cpus.size(), "groups hold each cpu once");
    for (auto const how : {nigh::cpu_order::compact, nigh::cpu_order::scatter})
      require(machine.order(how, l).size() == cpus.size(), "an order has each cpu");
  }
  require(objects_of(machine.root()) > cpus.size(), "the picture shows the cpus");
  std::vector<int> half(cpus.begin(),
                        cpus.begin() + static_cast<std::ptrdiff_t>((cpus.size() + 1) / 2));
  auto const part = machine.restricted_to(half);
  require(part && part->cpus() == half, "a part has the cpus that it was made for");
}

}  // namespace fuzz
