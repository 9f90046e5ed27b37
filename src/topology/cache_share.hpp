// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <nigh/topology.hpp>
#include <span>

namespace nigh::topologies {

// The bytes of cache that each of these cpus can call its own when all of them work: each cache
// divided by those of them that share it; for the cpu that has least. 0: the machine does not say.
struct CacheShare {
  std::size_t l2 = 0;
  std::size_t last = 0;  // L3, or the last level
};
CacheShare cache_share(topology const& machine, std::span<int const> cpus);

}  // namespace nigh::topologies
