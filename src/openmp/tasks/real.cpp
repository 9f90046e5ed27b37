// SPDX-License-Identifier: Apache-2.0
#include "openmp/tasks/real.hpp"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

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
  Dl_info in;
  if (dladdr(caller, &in) != 0 && in.dli_fname != nullptr) {
    if (void* const object = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD); object != nullptr) {
      found = dlsym(object, name_);
      dlclose(object);
    }
  }
  if (found == nullptr) {
    fprintf(stderr, "nigh: the program calls %s, but has no OpenMP runtime\n", name_);
    abort();
  }
  return found;
}

}  // namespace nigh::openmp::tasks
