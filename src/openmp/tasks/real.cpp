// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/real.hpp"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "preload/next.hpp"

namespace nigh::openmp::tasks {

// A function of the caller's own libraries is looked up each time: another library may have
// another.
void* Real::find(void const* caller) noexcept {
  void* found = found_.load(sync::relaxed);
  if (found != nullptr) [[likely]]
    return found;
  found = dlsym(RTLD_NEXT, name_);
  if (found != nullptr) {
    found_.store(found, sync::relaxed);
    return found;
  }
  found = preload::find_from(caller, name_);
  // A call at the end of a region's function is a jump, and its caller that of the function: nigh.
  if (found == nullptr) found = preload::find_from(runtime_at_hand(), name_);
  if (found == nullptr) {
    fprintf(stderr, "nigh: the program calls %s, but has no OpenMP runtime\n", name_);
    abort();
  }
  return found;
}

}  // namespace nigh::openmp::tasks
