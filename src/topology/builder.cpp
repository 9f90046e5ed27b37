// SPDX-License-Identifier: Apache-2.0
#include "topology/builder.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "topology/distances.hpp"
#include "topology/domains.hpp"

namespace nigh {
namespace {

constexpr int max_cpu = 1 << 20;  // numbers index arrays here

// The error in the numbers of all objects of a kind, in files that somebody has changed. Empty:
// there is none.
std::string wrong_numbers(hwloc_topology_t machine, hwloc_obj_type_t kind,
                          std::string const& what) {
  std::vector<bool> seen(std::size_t{max_cpu} + 1);
  for (int i = 0; i < hwloc_get_nbobjs_by_type(machine, kind); ++i) {
    auto const number = hwloc_get_obj_by_type(machine, kind, static_cast<unsigned>(i))->os_index;
    auto const name = what + " number " + std::to_string(number);
    if (number > max_cpu) return name + " is too large";
    if (seen[number]) return name + " is there twice";
    seen[number] = true;
  }
  return {};
}

constexpr std::size_t at(level l) noexcept { return static_cast<std::size_t>(l); }

hwloc_obj_t pu_at(hwloc_topology_t machine, int i) {
  return hwloc_get_obj_by_type(machine, HWLOC_OBJ_PU, static_cast<unsigned>(i));
}

// Some descriptions know no sizes at all; where any node has one, 0 means that there is no memory.
bool sizes_known(std::vector<FoundDomain> const& found) {
  return std::any_of(found.begin(), found.end(), [](FoundDomain const& s) {
    return s.node != nullptr && s.node->attr->numanode.local_memory > 0;
  });
}

}  // namespace

result<topology> topology_builder::whole(hwloc_topology_t machine, std::string source) {
  topology t;
  t.source_ = std::move(source);
  for (auto const& wrong : {wrong_numbers(machine, HWLOC_OBJ_PU, "cpu"),
                            wrong_numbers(machine, HWLOC_OBJ_NUMANODE, "memory")})
    if (!wrong.empty()) return error{t.source_ + ": " + wrong};
  add_cpus(t, machine);

  auto const found = find_domains(machine);
  auto const known = sizes_known(found);
  std::unordered_map<hwloc_obj_t, int> domain_of;
  t.domain_of_.resize(t.cpus_.size());
  for (auto const& from : found) {
    domain d;
    d.index = static_cast<int>(t.domains_.size());
    if (from.node != nullptr) {
      d.memory_bytes = from.node->attr->numanode.local_memory;
      if (d.memory_bytes > 0 || !known) d.os_node = static_cast<int>(from.node->os_index);
      domain_of[from.node] = d.index;
    }
    for (int i : from.cpus) {
      auto const position = static_cast<std::size_t>(i);
      d.cpus.push_back(t.cpus_[position]);
      t.domain_of_[position] = d.index;
      domain_of[pu_at(machine, i)] = d.index;
      auto& objects = t.objects_[position];
      objects[at(level::domain)] = -1 - d.index;  // other objects count upwards from 0
      if (objects[at(level::l3)] < 0) objects[at(level::l3)] = objects[at(level::domain)];
      if (objects[at(level::l2)] < 0) objects[at(level::l2)] = objects[at(level::l3)];
    }
    t.domains_.push_back(std::move(d));
  }
  auto distances = distances_between(machine, found);
  t.distances_ = std::move(distances.values);
  t.has_firmware_distances_ = distances.from_firmware;
  t.root_ = picture_of(hwloc_get_root_obj(machine), [&](hwloc_obj_t o) { return domain_of.at(o); });
  auto const everything = [](int) { return true; };
  return restricted(std::move(t), everything, everything);
}

// All levels except the domain, and what a missing cache falls back to once the domain is known.
void topology_builder::add_cpus(topology& t, hwloc_topology_t machine) {
  std::unordered_map<hwloc_obj_t, int> ids{{hwloc_get_root_obj(machine), 0}};
  auto const id_of = [&](hwloc_obj_t o) {
    return ids.try_emplace(o, static_cast<int>(ids.size())).first->second;
  };
  auto const pus = hwloc_get_nbobjs_by_type(machine, HWLOC_OBJ_PU);
  for (int i = 0; i < pus; ++i) {
    auto* const pu = pu_at(machine, i);
    auto const ancestor_or = [&](hwloc_obj_type_t type, int otherwise) {
      auto* const o = hwloc_get_ancestor_obj_by_type(machine, type, pu);
      return o != nullptr ? id_of(o) : otherwise;
    };
    t.cpus_.push_back(static_cast<int>(pu->os_index));
    auto& objects = t.objects_.emplace_back();
    objects[at(level::cpu)] = id_of(pu);
    objects[at(level::core)] = ancestor_or(HWLOC_OBJ_CORE, objects[at(level::cpu)]);
    objects[at(level::l2)] = ancestor_or(HWLOC_OBJ_L2CACHE, -1);
    objects[at(level::l3)] = ancestor_or(HWLOC_OBJ_L3CACHE, -1);
    objects[at(level::package)] = ancestor_or(HWLOC_OBJ_PACKAGE, 0);
    objects[at(level::host)] = 0;
  }
}

}  // namespace nigh
