// SPDX-License-Identifier: Apache-2.0
#pragma once
// A machine of four cpus in one domain, and sets of them, for tests of the coordinator's parts.

#include <initializer_list>
#include <nigh/topology.hpp>

#include "coordinator/protocol/cpus.hpp"
#include "policy/cpus/core_map.hpp"

namespace nigh::coordinator {

inline policy::CoreMap four_cpus() {
  return policy::CoreMap::of(*topology::from_synthetic("pack:1 numa:1 core:4 pu:1"));
}

inline CpuSet set_of(std::initializer_list<int> list) {
  CpuSet set;
  for (int c : list) set.add(c);
  return set;
}

}  // namespace nigh::coordinator
