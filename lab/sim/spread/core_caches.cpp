// SPDX-License-Identifier: Apache-2.0
#include "sim/spread/core_caches.hpp"

#include <cstddef>
#include <map>

namespace nigh::sim {

namespace {

using Kind = topology_object::kind;

// The outermost cache above each cpu.
void collect(topology_object const& object, int cache, CoreCaches& all, std::map<int, int>& of) {
  if (object.type == Kind::cpu) of[object.os_index] = cache;
  if (object.type == Kind::cache && cache < 0) {
    cache = static_cast<int>(all.bytes.size());
    all.bytes.push_back(static_cast<double>(object.size_bytes));
  }
  for (auto const& child : object.children) collect(child, cache, all, of);
}

}  // namespace

CoreCaches CoreCaches::of(topology const& machine) {
  CoreCaches all;
  std::map<int, int> cache_of;
  collect(machine.root(), -1, all, cache_of);
  for (int d = 0; d < machine.cpu_domains(); ++d) {
    all.cache_of.emplace_back();
    for (int cpu : machine.domains()[static_cast<std::size_t>(d)].cpus)
      if (machine.smt_siblings(cpu).front() == cpu) all.cache_of.back().push_back(cache_of[cpu]);
  }
  return all;
}

}  // namespace nigh::sim
