// SPDX-License-Identifier: Apache-2.0
#pragma once
// libgomp ends threads when a team shrinks and makes others when it grows, which takes
// milliseconds. Threads that would end wait here instead, and become the threads that libgomp
// makes.

#include <pthread.h>

#include "preload/hidden.hpp"

namespace nigh::openmp {

using Create = int(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);

// As `create` does, for libgomp. A thread that returns from `body` has detached itself, and nobody
// waits for it; a thread that ends in another way (pthread_exit) is gone.
NIGH_HIDDEN int create_recycled(Create* create, pthread_t* thread, pthread_attr_t const* attributes,
                                void* (*body)(void*), void* argument) noexcept;

// In the child of a fork: threads that waited belong to its parent.
NIGH_HIDDEN void drop_recycled() noexcept;

}  // namespace nigh::openmp
