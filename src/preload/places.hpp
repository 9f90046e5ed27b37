// SPDX-License-Identifier: Apache-2.0
#pragma once
// Shared by the parts of a library that places threads. nigh-places.so and nigh-openmp.so each have
// an OnAllPlaces of their own, and share the code that uses it.

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

}  // namespace nigh::preload
