// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cores of a machine's domains and the last caches before memory.

#include <vector>

#include "sim/machine.hpp"

namespace nigh::sim {

struct CoreCaches {
  std::vector<std::vector<int>> cache_of;  // [domain][core]: index in bytes; -1: no cache is known
  std::vector<double> bytes;               // [cache]

  static CoreCaches of(topology const& machine);
};

}  // namespace nigh::sim
