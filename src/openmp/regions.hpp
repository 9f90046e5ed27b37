// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parallel regions of this process, by the address of their code.

#include <cstdint>

#include "base/atomic.hpp"
#include "coordinator/protocol/region_id.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/team_size.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

struct Region {
  coordinator::RegionId id = 0;
  Runtime const* runtime = nullptr;
  void const* code = nullptr;
  TeamRule rule = TeamRule::unknown;  // of the object that it is in
  Adjust adjust = Adjust::as_known;   // what the user says of that one
  std::uint32_t age = 0;              // times_forgotten() when all of this was looked up
};

// `code` is the function that the compiler made of the region's body. No runtime: there is none,
// and the code found the entry only because the shim has it.
NIGH_HIDDEN Region find_region(void const* code, Entry entry, void const* caller) noexcept;

// The same for code that calls `entry`, which begins no region.
inline Region find_caller(void const* caller, Entry entry) noexcept {
  return find_region(caller, entry, caller);
}

// A library was closed, and other code may come to lie at its address; or the user's word was read
// only now.
NIGH_HIDDEN void forget_regions() noexcept;
extern NIGH_HIDDEN constinit sync::atomic<std::uint32_t> age_of_regions;
inline std::uint32_t times_forgotten() noexcept { return age_of_regions.load(sync::relaxed); }

// In the child of a fork: other threads of the parent may have been in here.
NIGH_HIDDEN void unlock_regions() noexcept;

}  // namespace nigh::openmp
