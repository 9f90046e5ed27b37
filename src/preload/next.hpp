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

}  // namespace nigh::preload
