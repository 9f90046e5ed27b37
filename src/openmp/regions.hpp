// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parallel regions of this process, by the address of their code.

#include "coordinator/protocol/region_id.hpp"
#include "openmp/runtimes.hpp"

namespace nigh::openmp {

struct Region {
  coordinator::RegionId id = 0;
  Runtime const* runtime = nullptr;
  void const* code = nullptr;
  bool needs_whole_team = false;  // its library waits for threads that it only takes to be there
};

// `code` is the function that the compiler made of the region's body.
NIGH_HIDDEN Region find_region(void const* code, Entry entry, void const* caller) noexcept;

// A library was closed: what comes to lie where it was is something else.
NIGH_HIDDEN void forget_regions() noexcept;

}  // namespace nigh::openmp
