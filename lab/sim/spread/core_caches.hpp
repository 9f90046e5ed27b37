// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cores of a machine's domains and the last caches before memory.

#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "sim/machine.hpp"

namespace nigh::sim {

// How much of what was touched once is still in a cache when it is touched again.

// Of a set that is gone through again and again in a cache that replaces at random. A line is found
// if it has outlived the misses since its last use, h = exp(-(1 - h) x set / cache), whose solution
// below 1 exists from set > cache on. A cache that replaces the least recently used line would
// fall from all to nothing at once; those of today do neither.
inline double kept_share(double set_bytes, double cache_bytes) noexcept {
  if (set_bytes <= cache_bytes) return 1;
  if (cache_bytes <= 0) return 0;
  double const ratio = set_bytes / cache_bytes;
  double low = 0, high = 1 - 1e-12;
  for (int i = 0; i < 60; ++i) {
    double const h = (low + high) / 2;
    (std::exp(-(1 - h) * ratio) > h ? low : high) = h;
  }
  // At 1 the equation always holds; the root looked for lies where the curve is crossed before.
  return low;
}

struct CoreCaches {
  std::vector<std::vector<int>> cpu_of;    // [domain][core]: the first one
  std::vector<std::vector<int>> cache_of;  // [domain][core]: index in bytes; -1: no cache is known
  std::vector<double> bytes;               // [cache]

  static CoreCaches of(topology const& machine);
};

using Kind = topology_object::kind;

// The outermost cache above each cpu.
inline void collect(topology_object const& object, int cache, CoreCaches& all,
                    std::map<int, int>& of) {
  if (object.type == Kind::cpu) of[object.os_index] = cache;
  if (object.type == Kind::cache && cache < 0) {
    cache = static_cast<int>(all.bytes.size());
    all.bytes.push_back(static_cast<double>(object.size_bytes));
  }
  for (auto const& child : object.children) collect(child, cache, all, of);
}

inline CoreCaches CoreCaches::of(topology const& machine) {
  CoreCaches all;
  std::map<int, int> cache_of;
  collect(machine.root(), -1, all, cache_of);
  for (int d = 0; d < machine.cpu_domains(); ++d) {
    auto& cpus = all.cpu_of.emplace_back();
    auto& caches = all.cache_of.emplace_back();
    for (int cpu : machine.domains()[static_cast<std::size_t>(d)].cpus) {
      if (machine.smt_siblings(cpu).front() != cpu) continue;
      cpus.push_back(cpu);
      caches.push_back(cache_of[cpu]);
    }
  }
  return all;
}

}  // namespace nigh::sim
