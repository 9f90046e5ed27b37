// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by the parts of a library that places threads. nigh-places.so and nigh-openmp.so each have
// an OnAllPlaces of their own, and share the code that uses it.

#include <pthread.h>
#include <sched.h>

#include "preload/hidden.hpp"
#include "preload/next.hpp"

namespace nigh::preload {

// While this lives, the calling thread may run on all places if it is where we put it, and so may a
// program that it starts. A thread that something else bound stays as it is. Safe in a child after
// vfork().
class NIGH_HIDDEN OnAllPlaces {
 public:
  OnAllPlaces();
  ~OnAllPlaces();
  OnAllPlaces(OnAllPlaces&&) = delete;
  OnAllPlaces& operator=(OnAllPlaces&&) = delete;

 private:
  bool left_ = false;
  cpu_set_t before_;
};

// As the kernel has them. False: it refuses.
NIGH_HIDDEN bool read_mask(cpu_set_t&) noexcept;  // of the calling thread
NIGH_HIDDEN bool read_mask_of(pthread_t, cpu_set_t&) noexcept;
NIGH_HIDDEN bool set_mask(cpu_set_t const&) noexcept;
NIGH_HIDDEN bool set_mask_of(pthread_t, cpu_set_t const&) noexcept;

// The cpus of the place where we put this thread; null: nowhere. 0: the calling thread.
NIGH_HIDDEN cpu_set_t const* place_of(pid_t thread) noexcept;
NIGH_HIDDEN cpu_set_t const* place_of_thread(pthread_t) noexcept;
NIGH_HIDDEN cpu_set_t const* all_places() noexcept;
// It has got other cpus, from the program or its runtime.
NIGH_HIDDEN void forget_place_of(pid_t thread) noexcept;
NIGH_HIDDEN void forget_place_of_thread(pthread_t) noexcept;

}  // namespace nigh::preload
