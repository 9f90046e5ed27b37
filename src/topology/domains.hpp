// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which cpus belong to which memory, from hwloc's tree.

#include <hwloc.h>

#include <vector>

namespace nigh {

// A domain before it becomes a value. Indices of `cpus` are positions among hwloc's PUs.
struct FoundDomain {
  hwloc_obj_t node = nullptr;    // NUMANODE, or null: cpus without local memory
  hwloc_obj_t object = nullptr;  // the normal (not memory) object it is local to
  std::vector<int> cpus;         // logical indices of the PUs, ascending; empty: memory-only
};

// Every NUMA node and every cpu of the topology, each in exactly one of them. Those with cpus come
// first, in hardware order; memory-only ones follow by Linux's number.
//
// A cpu belongs to the closest node whose cpuset holds it. Of several equally close nodes (DRAM and
// HBM of one package, a CXL node that the firmware's HMAT table ties to a package) the one with the
// lowest number gets the cpus, since Linux numbers nodes with cpus first; the others are
// memory-only. Cpus without a node form one domain for each largest object that holds no others.
std::vector<FoundDomain> find_domains(hwloc_topology_t machine);

}  // namespace nigh
