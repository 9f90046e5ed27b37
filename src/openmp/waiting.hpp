// SPDX-License-Identifier: Apache-2.0
#pragma once
// How do the threads of this process's runtimes wait (policy/cpus/team_waiting.hpp)? Looked at when
// a region begins. For libomp, calm is a blocktime of 0, which each thread that begins regions has
// of its own; for libgomp, it is ballast (below).
//
// If the user has said how threads wait, nothing changes.

#include <pthread.h>

#include <cstdint>

#include "base/atomic.hpp"
#include "openmp/connection.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/thread.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// A script that `nigh run` has started may say how threads of its programs wait. libomp would heed
// the blocktime of `nigh run` first: so that goes. Before the program's first thread.
NIGH_HIDDEN void heed_the_programs_waiting(char** environment) noexcept;
// Reads the environment.
NIGH_HIDDEN void begin_waiting() noexcept;
// The user wants threads to sleep.
NIGH_HIDDEN bool waits_passively() noexcept;

// No thread that begins regions is left.
NIGH_HIDDEN void end_ballast() noexcept;
// In the child of a fork.
NIGH_HIDDEN void drop_waiting() noexcept;

extern NIGH_HIDDEN constinit sync::atomic<std::uint32_t> calm_runtimes;
NIGH_HIDDEN void look_at_waiting(Thread& me, Runtime const&, GrantedTeam const&,
                                 std::uint32_t threads) noexcept;

// No runtime's threads have been made calm, nor is there a reason for this thread to do so.
inline bool waits_as_usual(Thread const& me) noexcept {
  return calm_runtimes.load(sync::relaxed) == 0 && me.calmed == nullptr &&
         me.preemptions_per_s == 0;
}
// On all cpus of the process no team is crowded (policy::is_crowded()).
inline bool is_short_of_cpus(GrantedTeam const& granted, std::uint32_t threads,
                             std::uint32_t allowed) noexcept {
  return granted.size < threads && granted.size < allowed;
}

// The calling thread begins an outermost region, with so many threads; the process may use so many
// cpus.
inline void adapt_waiting(Thread& me, Runtime const& runtime, GrantedTeam const& granted,
                          std::uint32_t threads, std::uint32_t allowed) noexcept {
  if (is_short_of_cpus(granted, threads, allowed) || !waits_as_usual(me)) [[unlikely]]
    look_at_waiting(me, runtime, granted, threads);
}

// Called now and then: counts how often the calling thread loses its cpu to others.
NIGH_HIDDEN void watch_preemptions(Thread& me, std::uint64_t now_ns) noexcept;

// ---- ballast: threads that only sleep, so that libgomp's others do, too. libgomp has no call that
// says how threads wait, but its threads spin briefly or not at all while there are more of them
// than cpus. Ballast raises their number, as the team of a region that has ended.

struct Ballast;

// So many threads, and one that begins their region. Null: there is no room for them.
NIGH_HIDDEN Ballast* begin_ballast(Runtime const&, std::uint32_t threads) noexcept;
// They end, soon.
NIGH_HIDDEN void end(Ballast*) noexcept;

// In place of pthread_create(), for libgomp in its first thread: libgomp would end the program
// where there is no room for a thread, so these are made before. False: there is none left.
NIGH_HIDDEN bool take_ballast(Ballast&, pthread_t* thread, void* (*body)(void*),
                              void* argument) noexcept;

}  // namespace nigh::openmp
