// SPDX-License-Identifier: Apache-2.0
#pragma once
// Thread pools that are not OpenMP, in libraries with functions that set their size
// (settings/thread_pools.hpp): where the user lets them (`nigh run --adjust openblas`), they have
// as many threads as the program's equal part of the cpus, up to the size that the program has
// said.
//
// A size changes only at moments at which no call of such a library is under way. The shim knows
// these only of a program whose threads are all made by OpenMP runtimes and by such libraries, so
// that a call can only be its first thread's, or an OpenMP worker's. That thread is not in one when
// it
//   - comes to main(),
//   - begins a region,
//   - closes a descriptor (an interpreter does that for each module), or
//   - is about to make the program's first other thread: then the pools get their own sizes back,
//     and keep them.
// A library is known by the threads that it makes. They also say that its pool has begun: a getter
// called before may begin it with a wrong size, and a setter called after fork() would make
// threads.

#include <cstdint>

#include "base/atomic.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// Once it is known whether the shim acts, before the program runs.
NIGH_HIDDEN void begin_pool_sizes() noexcept;

// Code at `caller`, which is no OpenMP runtime's, is about to make a thread.
NIGH_HIDDEN void thread_is_made(void const* caller) noexcept;

// Pools with threads that may be set.
extern NIGH_HIDDEN constinit sync::atomic<std::uint32_t> pools_that_follow;
NIGH_HIDDEN void look_at_pools(bool may_lock) noexcept;

// The calling thread begins an outermost region.
inline void adapt_pools() noexcept {
  if (pools_that_follow.load(sync::relaxed) != 0) [[unlikely]]
    look_at_pools(true);
}
// It closes a descriptor, possibly in a signal handler or after vfork().
inline void adapt_pools_in_passing() noexcept {
  if (pools_that_follow.load(sync::relaxed) != 0) [[unlikely]]
    look_at_pools(false);
}

// Around fork(): OpenBLAS ends its threads before, and makes others with its next call.
NIGH_HIDDEN void rest_pool_sizes() noexcept;
NIGH_HIDDEN void drop_pool_sizes() noexcept;  // in the child

// At the end, on standard error: the pools in this process, where there are any, and which sizes
// those have had that follow.
NIGH_HIDDEN void tell_pools() noexcept;
NIGH_HIDDEN void tell_pool_sizes() noexcept;

}  // namespace nigh::openmp
