// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threads that only sleep, so that libgomp's others do, too. libgomp has no call that says how
// threads wait, but its threads spin briefly or not at all while there are more of them than cpus:
// these make it so, as the team of a region that has ended.

#include <pthread.h>

#include <cstdint>

#include "preload/hidden.hpp"

namespace nigh::openmp {

struct Runtime;

struct Ballast;

// So many threads and one that begins their region. Null: there is no room for them.
NIGH_HIDDEN Ballast* begin_ballast(Runtime const&, std::uint32_t threads) noexcept;
// They end, soon.
NIGH_HIDDEN void end(Ballast*) noexcept;

// In the place of pthread_create(), for libgomp in its first thread: it would end the program where
// there is no room for a thread, so these are made before. False: there is none left.
NIGH_HIDDEN bool take_ballast(Ballast&, pthread_t* thread, void* (*body)(void*),
                              void* argument) noexcept;

}  // namespace nigh::openmp
