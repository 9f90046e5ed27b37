// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the parts of a library that places threads know of each other. nigh-places.so and
// nigh-openmp.so each have an OnAllPlaces of their own, and share what uses it.

#include <sched.h>

#include "preload/hidden.hpp"
#include "preload/next.hpp"

namespace nigh::preload {

// The calling thread may run on all places while this lives, if it is where we put it: so a program
// that it starts may. One that was bound by anybody else stays as it is. Safe in a child after
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
