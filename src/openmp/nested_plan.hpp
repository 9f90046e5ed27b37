// SPDX-License-Identifier: Apache-2.0
#pragma once
// Regions whose threads (leaders) begin regions of their own, with members: how many threads does
// each level have, and on which cpus? Found while the program runs: from the second time that such
// a region begins, or from the first one where an earlier run has found it.
//
//   NIGH_OPENMP_SPREAD=S       cpus of a leader and its members; "all", or "auto": SpreadChoice,
//                              with each run of the outer region as a sample
//   NIGH_OPENMP_CPU_ORDER=0,1  the host's cpus in hardware order (settings/cpu_order_text.hpp)
//   NIGH_OPENMP_MACHINE=TEXT   the host's shape, which the file of NIGH_SPREADS must have, too
//
// The cpus are those of the lease; without a coordinator, all that the process may use.

#include <cstdint>

#include "coordinator/protocol/region_id.hpp"
#include "openmp/connection.hpp"
#include "openmp/team_size.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

class NestSite;  // such a region; lives as long as the process
struct Runtime;
struct Thread;

// How one run of such a region is carried out.
struct NestedPlan {
  struct Part {
    std::uint32_t begin, size;  // of `cpus`
    std::uint32_t threads;
  };
  NestSite* site = nullptr;
  Runtime const* runtime = nullptr;
  std::uint16_t const* cpus = nullptr;  // in hardware order
  std::uint16_t const* leader_cpus = nullptr;
  Part const* parts = nullptr;  // [leader]
  std::uint32_t cpu_count = 0;
  std::uint32_t leaders = 0;
  std::uint32_t version = 0;  // of the plan: no other plan has it
};

// Reads the environment. Returns what is wrong with it, or null.
NIGH_HIDDEN char const* begin_nests() noexcept;
extern NIGH_HIDDEN constinit bool spreads;  // nested_plan.cpp writes it
inline bool is_spreading() noexcept { return spreads; }

// Null: as far as is known, none of its threads has begun a region.
NIGH_HIDDEN NestSite* find_nest(coordinator::RegionId) noexcept;
// `inside`: what the region that one of its threads begins should have.
NIGH_HIDDEN void found_nest(coordinator::RegionId, TeamDemand inside) noexcept;
NIGH_HIDDEN void seen_inside(NestSite&, TeamDemand inside) noexcept;

// Its threads may not have several threads.
NIGH_HIDDEN void kept_flat(NestSite&) noexcept;

// How many cpus are useful for it.
NIGH_HIDDEN std::uint32_t cpus_for(NestSite const&, TeamDemand) noexcept;
// Null: there is no memory. Otherwise end_plan() follows, by the same thread.
NIGH_HIDDEN NestedPlan const* begin_plan(NestSite&, Runtime const&, Thread&, GrantedTeam const&,
                                         TeamDemand) noexcept;
NIGH_HIDDEN void end_plan(Thread&, NestedPlan const&, std::uint64_t duration_ns) noexcept;

// For a thread that ends.
NIGH_HIDDEN void drop_plans(Thread&) noexcept;

// In the child of a fork: known facts stay known, and nothing is under way. If the fork interrupted
// a change, the child has no nests.
NIGH_HIDDEN void unlock_nests() noexcept;

// At the end: the configurations that were found, for people and for the next run.
NIGH_HIDDEN void tell_nests() noexcept;
NIGH_HIDDEN void save_nests() noexcept;

}  // namespace nigh::openmp
