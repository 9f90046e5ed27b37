// SPDX-License-Identifier: Apache-2.0
#pragma once
// Thread pools other than OpenMP's, in libraries with functions that set their size
// (settings/thread_pools.hpp). Where the user lets them (`nigh run --adjust openblas`), they have
// as many threads as the program's equal part of the cpus, up to the size that the program has set.
//
// A size changes only at moments without a call of such a library under way. The shim knows these
// only in a program whose threads are all made by OpenMP runtimes and by such libraries: then only
// its first thread, or an OpenMP worker, can be in a call. The first thread is in none when it
//   - comes to main(),
//   - begins a region,
//   - closes a descriptor (an interpreter does that for each module), or
//   - is about to make the program's first other thread: then the pools get their own sizes back,
//     and keep them.
// A library is known by the threads that it makes. They also show that its pool has begun: a getter
// called before may begin it with a wrong size, and a setter called after fork() would make
// threads.

#include <cstdint>

#include "base/atomic.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// Once it is known whether the shim acts, before the program runs.
NIGH_HIDDEN void begin_pool_sizes() noexcept;

// Code at `caller`, which is no OpenMP runtime, is about to make a thread.
NIGH_HIDDEN void thread_is_made(void const* caller) noexcept;

// Pools that have threads and may be set.
extern NIGH_HIDDEN constinit sync::atomic<std::uint32_t> pools_that_follow;
NIGH_HIDDEN void look_at_pools(bool may_lock) noexcept;

inline bool have_pools_that_follow() noexcept { return pools_that_follow.load(sync::relaxed) != 0; }
// The calling thread begins an outermost region.
inline void adapt_pools() noexcept {
  if (have_pools_that_follow()) [[unlikely]]
    look_at_pools(true);
}
// It closes a descriptor, perhaps in a signal handler or after vfork().
inline void adapt_pools_in_passing() noexcept {
  if (have_pools_that_follow()) [[unlikely]]
    look_at_pools(false);
}

// Around fork(): OpenBLAS ends its threads before it, and makes others with its next call.
NIGH_HIDDEN void rest_pool_sizes() noexcept;
NIGH_HIDDEN void drop_pool_sizes() noexcept;  // in the child

// At the end, on standard error: the pools in this process, if any, and the sizes of those that
// follow.
NIGH_HIDDEN void tell_pools() noexcept;
NIGH_HIDDEN void tell_pool_sizes() noexcept;

}  // namespace nigh::openmp
