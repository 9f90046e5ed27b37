// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <nigh/topology.hpp>
#include <span>

namespace nigh::topologies {

// Bytes of cache that one of these cpus can call its own when all of them work: each cache divided
// by those of them that share it; of the cpu that has least. 0: the machine tells of none.
struct CacheShare {
  std::size_t l2 = 0;
  std::size_t last = 0;  // L3, or what lies beyond
};
CacheShare cache_share(topology const& machine, std::span<int const> cpus);

}  // namespace nigh::topologies
