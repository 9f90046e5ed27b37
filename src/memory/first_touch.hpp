// SPDX-License-Identifier: Apache-2.0
#pragma once
// Placing pages where the kernel refuses to bind them: the thread that first writes a page gets it
// nearby.

#include <cstddef>
#include <nigh/topology.hpp>
#include <string>

#include "policy/loops/placement.hpp"

namespace nigh::memory {

// Touches every page of fresh memory from a cpu of the domain it should lie in: one thread for each
// such cpu, all at once, and waits for them. Returns what failed, as a sentence; empty when nothing
// did. Pages of a domain without cpus stay untouched.
std::string touch_from_domains(policy::PlacementMap const& map, std::byte* base,
                               topology const& machine);

}  // namespace nigh::memory
