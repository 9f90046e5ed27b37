// SPDX-License-Identifier: Apache-2.0
#pragma once
// Carrying a placement out.

#include <cstddef>
#include <nigh/topology.hpp>
#include <string>

#include "policy/loops/placement.hpp"

namespace nigh::memory {

// At most so many pieces does the kernel bind one by one. Each costs it a mapping of its own, of
// which a process may have 65,530 (vm.max_map_count) for all its arrays, libraries and stacks.
inline constexpr std::size_t most_bound_pieces = 8192;

// An array's address must be a multiple of this, so that its rule and the kernel agree.
std::size_t alignment_for(policy::PlacementMap const& map, placement rule);

// Puts the fresh pages at `base` where the map says, on this host: binds them, or, where the kernel
// refuses, touches them from their domains. Returns the sentence for page_report::note: empty when
// they were bound, else why not and what was done instead.
std::string apply_placement(policy::PlacementMap const& map, placement rule, std::byte* base,
                            topology const& machine);

}  // namespace nigh::memory
