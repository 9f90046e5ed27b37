// SPDX-License-Identifier: Apache-2.0
#include "topology/cache_share.hpp"

#include <algorithm>
#include <limits>

namespace nigh::topologies {
namespace {

constexpr std::size_t unknown = std::numeric_limits<std::size_t>::max();

std::size_t count(topology_object const& o, std::span<int const> cpus) {
  if (o.type == topology_object::kind::cpu)
    return static_cast<std::size_t>(std::count(cpus.begin(), cpus.end(), o.os_index));
  std::size_t n = 0;
  for (auto const& child : o.children) n += count(child, cpus);
  return n;
}

// `share`: this core's part of the caches above.
CacheShare least_below(topology_object const& o, std::span<int const> cpus, CacheShare share) {
  auto const n = count(o, cpus);
  if (n == 0) return {unknown, unknown};
  if (o.type == topology_object::kind::cpu) return share;
  if (o.type == topology_object::kind::cache) {
    if (o.name.starts_with("L2")) share.l2 = o.size_bytes / n;
    if (o.name.starts_with("L3") || o.name.starts_with("L4"))
      share.last = std::max(share.last, o.size_bytes / n);
  }
  CacheShare least{unknown, unknown};
  for (auto const& child : o.children) {
    auto const below = least_below(child, cpus, share);
    least = {std::min(least.l2, below.l2), std::min(least.last, below.last)};
  }
  return least;
}

}  // namespace

CacheShare cache_share(topology const& machine, std::span<int const> cpus) {
  auto const share = least_below(machine.root(), cpus, {});
  return share.l2 == unknown ? CacheShare{} : share;
}

}  // namespace nigh::topologies
