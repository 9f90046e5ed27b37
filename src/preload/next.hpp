// SPDX-License-Identifier: Apache-2.0
#pragma once
// The function that an interposed one stands in front of.

#include "base/atomic.hpp"
#include "preload/hidden.hpp"

namespace nigh::preload {

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

// dlsym(RTLD_NEXT, name), for constructors as well: a search that finds nothing allocates, and some
// programs have a malloc() that works from main() on.
NIGH_HIDDEN void* find_next(char const* name);

// `name` as the object that holds this address finds it in itself and in the libraries that it was
// linked to; null: in none of them.
NIGH_HIDDEN void* find_from(void const* inside, char const* name);

// That version of it, as the loader searches for a call of the same object: in the libraries that
// come next for all, then in the object's own.
NIGH_HIDDEN void* find_version(void const* inside, char const* name, char const* version);

}  // namespace nigh::preload
