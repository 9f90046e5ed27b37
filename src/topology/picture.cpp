// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "topology/builder.hpp"

namespace nigh {
namespace {

using Kind = topology_object::kind;

Kind kind_of(hwloc_obj_t o) {
  switch (o->type) {
    case HWLOC_OBJ_MACHINE:
      return Kind::machine;
    case HWLOC_OBJ_PACKAGE:
      return Kind::package;
    case HWLOC_OBJ_DIE:
      return Kind::die;
    case HWLOC_OBJ_CORE:
      return Kind::core;
    case HWLOC_OBJ_PU:
      return Kind::cpu;
    case HWLOC_OBJ_NUMANODE:
      return Kind::memory;
    case HWLOC_OBJ_MEMCACHE:
      return Kind::cache;
    default:
      return hwloc_obj_type_is_cache(o->type) != 0 ? Kind::cache : Kind::group;
  }
}

std::uint64_t size_of(hwloc_obj_t o, Kind kind) {
  if (kind == Kind::memory) return o->attr->numanode.local_memory;
  return kind == Kind::cache ? o->attr->cache.size : 0;
}

}  // namespace

topology_object picture_of(hwloc_obj_t o, std::function<int(hwloc_obj_t)> const& domain_of) {
  topology_object picture;
  picture.type = kind_of(o);
  std::array<char, 64> name{};
  hwloc_obj_type_snprintf(name.data(), name.size(), o, 0);
  picture.name = name.data();
  picture.os_index = static_cast<int>(o->os_index);  // HWLOC_UNKNOWN_INDEX becomes -1
  picture.logical_index = static_cast<int>(o->logical_index);
  picture.size_bytes = size_of(o, picture.type);
  if (picture.type == Kind::cpu || picture.type == Kind::memory) picture.domain = domain_of(o);
  for (auto* c = o->memory_first_child; c != nullptr; c = c->next_sibling)
    picture.children.push_back(picture_of(c, domain_of));
  for (auto* c = o->first_child; c != nullptr; c = c->next_sibling)
    picture.children.push_back(picture_of(c, domain_of));
  return picture;
}

}  // namespace nigh
