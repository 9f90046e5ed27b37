// SPDX-License-Identifier: Apache-2.0
#pragma once
// libgomp ends threads when a team shrinks and makes others when it grows, which takes
// milliseconds. Where nigh has made the team smaller or larger than the program asked, threads that
// would end wait here instead, and become the threads that libgomp makes. Where the program itself
// asks for another size, its threads end as without nigh, and with them what is thread-private:
// destructors run, and the next thread of that number has fresh values.
//
//   team of                             threads that leave it
//   ----------------------------------  -----------------------------------------------------------
//   an outermost region, by libgomp's   those that the program asked for: wait, each for the same
//   pool of its leader                  number in a team of the same leader; all others end
//   a nested region with its part of a  wait, for any such team
//   spread
//   any other                           end

#include <pthread.h>

#include <cstdint>

#include "openmp/runtimes.hpp"
#include "openmp/thread.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

using Create = int(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);

// As `create` does, for libgomp. A thread that returns from `body` has detached itself, and nobody
// waits for it.
NIGH_HIDDEN int create_recycled(Runtime const&, Create* create, pthread_t* thread,
                                pthread_attr_t const* attributes, void* (*body)(void*),
                                void* argument) noexcept;

// The calling thread begins an outermost region: the program asks for so many threads, and the team
// has so many. libgomp's pool stays as it is for a team of one.
NIGH_HIDDEN void change_pool(Thread& me, Runtime const&, std::uint32_t asked,
                             std::uint32_t given) noexcept;
inline bool changes_pool(Thread const& me, Runtime const& runtime, std::uint32_t asked,
                         std::uint32_t given) noexcept {
  auto const& pool = me.pools[runtime.number];
  return given > 1 && (given < pool.threads || asked < pool.kept_below);
}
inline void adapt_pool(Thread& me, Runtime const& runtime, std::uint32_t asked,
                       std::uint32_t given) noexcept {
  if (changes_pool(me, runtime, asked, given)) [[unlikely]]
    change_pool(me, runtime, asked, given);
}

// The thread ends: those that wait for its teams, too.
NIGH_HIDDEN void end_pools(Thread& me) noexcept;

// No thread that begins regions is left: threads that wait for work in nested teams end.
NIGH_HIDDEN void end_kept_members() noexcept;

// In the child of a fork: threads that waited belong to its parent.
NIGH_HIDDEN void drop_recycled() noexcept;

}  // namespace nigh::openmp
