// SPDX-License-Identifier: Apache-2.0
#include "preload/next.hpp"

#include <dlfcn.h>

namespace nigh::preload {

void* Next::address() {
  void* address = found_.load(sync::relaxed);
  if (address == nullptr) {
    address = dlsym(RTLD_NEXT, name_);
    found_.store(address, sync::relaxed);
  }
  return address;
}

}  // namespace nigh::preload
