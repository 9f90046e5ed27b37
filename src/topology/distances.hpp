// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far apart domains are: the firmware's matrix, or levels times amplification factors.

#include <hwloc.h>

#include <optional>
#include <span>
#include <vector>

#include "topology/domains.hpp"

namespace nigh {

struct DomainDistances {
  std::vector<double> values;  // [from * domains + to], 10 is local
  bool from_firmware = false;  // for every pair of domains with a node; the rest is by level
};

// A matrix that lacks one of the nodes is not used: numbers of two origins cannot be compared.
DomainDistances distances_between(hwloc_topology_t machine, std::span<FoundDomain const> domains);

}  // namespace nigh
