// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the shim needs of the coordinator's client, and no more, so that tests can put a scripted
// one in its place: leases.cpp asks nighd, tests/openmp/scripted_leases.cpp reads a list.

#include <cstdint>

#include "coordinator/client/granted_team.hpp"
#include "coordinator/protocol/message.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

struct Lease {
  std::uint16_t const* cpus = nullptr;  // the master's first, in the order of the threads
  std::uint32_t size = 0;               // 0: run as without a coordinator
  std::uint32_t version =
      0;  // of this master's leases: changes when cpus do, though not with the size alone
  bool is_to_be_timed = false;  // however short it is
  bool floats = false;          // its team had better not be bound to the cpus
  coordinator::FallbackReason fallback =
      coordinator::FallbackReason::no_coordinator;  // with size 0: why
};

// One for each thread that begins regions; used by that thread only.
class Leases;

NIGH_HIDDEN Leases* new_leases(coordinator::CpuSet const& allowed) noexcept;  // null: no memory
NIGH_HIDDEN void end(Leases*) noexcept;
NIGH_HIDDEN Lease enter(Leases&, coordinator::RegionId, coordinator::Demand) noexcept;
NIGH_HIDDEN void leave(Leases&, std::uint64_t duration_ns) noexcept;

// How many programs the coordinator serves; a hint.
NIGH_HIDDEN std::uint32_t programs_served() noexcept;
// The same, for a thread that does not hear of the coordinator's end otherwise; 0 after that. A
// signal handler may ask.
NIGH_HIDDEN std::uint32_t programs_served_now() noexcept;

// Without a region: the program is one of those that it serves.
NIGH_HIDDEN void join_coordinator(coordinator::CpuSet const& allowed) noexcept;

// The program closes the descriptors from `first` to `last`, or puts others there: a connection to
// the coordinator that is among them is given up first. True: end_closing() follows.
NIGH_HIDDEN bool begin_closing(unsigned first, unsigned last) noexcept;
NIGH_HIDDEN void end_closing() noexcept;

// In the child of a fork: what there was is the parent's. The child joins by itself when it asks
// for leases.
NIGH_HIDDEN void drop_all() noexcept;

}  // namespace nigh::openmp
