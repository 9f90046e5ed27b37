// SPDX-License-Identifier: Apache-2.0
#include "topology/domains.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace nigh {
namespace {

bool is_memory(hwloc_obj_t o) { return hwloc_obj_type_is_memory(o->type) != 0; }

// The best of the nodes among `child` and its siblings, through memory-side caches.
hwloc_obj_t lowest_node_with(unsigned cpu, hwloc_obj_t child) {
  hwloc_obj_t best = nullptr;
  for (; child != nullptr; child = child->next_sibling) {
    auto* const node = child->type == HWLOC_OBJ_NUMANODE
                           ? child
                           : lowest_node_with(cpu, child->memory_first_child);
    if (node == nullptr || hwloc_bitmap_isset(node->cpuset, cpu) == 0) continue;
    if (best == nullptr || node->os_index < best->os_index) best = node;
  }
  return best;
}

hwloc_obj_t home_of(hwloc_obj_t pu) {
  for (auto* o = pu; o != nullptr; o = o->parent)
    if (auto* const node = lowest_node_with(pu->os_index, o->memory_first_child)) return node;
  return nullptr;
}

hwloc_obj_t object_of(hwloc_obj_t node) {
  auto* o = node->parent;
  while (is_memory(o)) o = o->parent;
  return o;
}

}  // namespace

std::vector<FoundDomain> find_domains(hwloc_topology_t machine) {
  std::vector<FoundDomain> domains;
  std::map<hwloc_obj_t, std::size_t> found;  // node or its object -> index in domains
  auto const domain_at = [&](hwloc_obj_t key, hwloc_obj_t node,
                             hwloc_obj_t object) -> FoundDomain& {
    auto const [at, fresh] = found.try_emplace(key, domains.size());
    if (fresh) domains.push_back({node, object, {}});
    return domains[at->second];
  };

  auto const pus = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU);
  std::vector<hwloc_obj_t> homes;
  std::map<hwloc_obj_t, bool> holds_homed;  // objects with a cpu that has a home
  for (int i = 0; i < pus; ++i) {
    auto* const pu = hwloc_get_obj_by_type(machine, HWLOC_OBJ_PU, static_cast<unsigned>(i));
    homes.push_back(home_of(pu));
    if (homes.back() == nullptr) continue;
    for (auto* o = pu; o != nullptr && !std::exchange(holds_homed[o], true);) o = o->parent;
  }
  for (int i = 0; i < pus; ++i) {
    if (auto* const home = homes[static_cast<std::size_t>(i)]) {
      domain_at(home, home, object_of(home)).cpus.push_back(i);
      continue;
    }
    auto* object = hwloc_get_obj_by_type(machine, HWLOC_OBJ_PU, static_cast<unsigned>(i));
    while (object->parent != nullptr && !holds_homed[object->parent]) object = object->parent;
    domain_at(object, nullptr, object).cpus.push_back(i);
  }

  auto const with_cpus = static_cast<std::ptrdiff_t>(domains.size());
  for (auto* n = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, nullptr); n != nullptr;
       n = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_NUMANODE, n))
    domain_at(n, n, object_of(n));
  std::sort(domains.begin() + with_cpus, domains.end(),
            [](auto const& a, auto const& b) { return a.node->os_index < b.node->os_index; });
  return domains;
}

}  // namespace nigh
