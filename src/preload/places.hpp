// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the parts of nigh-places.so know of each other.

#include <sched.h>

#include "base/atomic.hpp"

namespace nigh::preload {

#define NIGH_HIDDEN __attribute__((visibility("hidden")))

// The next library's function of that name, looked up once. No function-local static: its guard
// would come from the C++ runtime.
class NIGH_HIDDEN Next {
 public:
  constexpr explicit Next(char const* name) : name_(name) {}
  void* address();

 private:
  char const* name_;
  sync::atomic<void*> found_{nullptr};
};

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
