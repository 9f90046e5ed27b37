// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the threads of this process' runtimes wait (policy/team_waiting.hpp), looked at when a region
// begins. calm is for libomp a blocktime of 0, which each thread that begins regions has of its
// own; for libgomp, ballast.hpp.
//
// Where somebody has said how threads wait, nothing changes.

#include <cstdint>

#include "base/atomic.hpp"
#include "openmp/leases.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/thread.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// Reads the environment.
NIGH_HIDDEN void begin_waiting() noexcept;
// The user says that threads are to sleep.
NIGH_HIDDEN bool waits_passively() noexcept;

// In the child of a fork.
NIGH_HIDDEN void drop_waiting() noexcept;

extern NIGH_HIDDEN constinit sync::atomic<std::uint32_t> calm_runtimes;
NIGH_HIDDEN void look_at_waiting(Thread& me, Runtime const&, Lease const&,
                                 std::uint32_t threads) noexcept;

// The calling thread begins an outermost region, with so many threads.
inline void adapt_waiting(Thread& me, Runtime const& runtime, Lease const& lease,
                          std::uint32_t threads) noexcept {
  if (lease.size < threads || calm_runtimes.load(sync::relaxed) != 0 || me.calmed != nullptr ||
      me.preemptions_per_s != 0) [[unlikely]]
    look_at_waiting(me, runtime, lease, threads);
}

// Now and then: how often the calling thread loses its cpu to others.
NIGH_HIDDEN void watch_preemptions(Thread& me, std::uint64_t now_ns) noexcept;

}  // namespace nigh::openmp
