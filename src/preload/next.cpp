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

void* find_from(void const* inside, char const* name) {
  static constinit Next close{"dlclose"};
  Dl_info in;
  if (inside == nullptr || dladdr(inside, &in) == 0 || in.dli_fname == nullptr) return nullptr;
  void* const object = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return nullptr;
  void* const found = dlsym(object, name);
  reinterpret_cast<int (*)(void*)>(close.address())(object);
  return found;
}

}  // namespace nigh::preload
