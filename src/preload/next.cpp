// SPDX-License-Identifier: Apache-2.0
#include "preload/next.hpp"

#include <dlfcn.h>

#include "platform/loaded_objects.hpp"

namespace nigh::preload {

void* find_next(char const* name) {
  static char const here = 0;
  return platform::may_define(name, &here) ? dlsym(RTLD_NEXT, name) : nullptr;
}

void* Next::address() {
  void* address = found_.load(sync::relaxed);
  if (address == nullptr) {
    address = find_next(name_);
    found_.store(address, sync::relaxed);
  }
  return address;
}

namespace {

// Returns the result of look_up() for a handle of the object; null: no object holds that address.
template <class LookUp>
void* find_in_object(void const* inside, LookUp look_up) {
  static constinit Next close{"dlclose"};
  Dl_info in;
  if (inside == nullptr || dladdr(inside, &in) == 0 || in.dli_fname == nullptr) return nullptr;
  void* const object = dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return nullptr;
  void* const found = look_up(object);
  reinterpret_cast<int (*)(void*)>(close.address())(object);
  return found;
}

}  // namespace

void* find_from(void const* inside, char const* name) {
  return find_in_object(inside, [name](void* object) { return dlsym(object, name); });
}

void* find_version(void const* inside, char const* name, char const* version) {
  if (void* const next = dlvsym(RTLD_NEXT, name, version)) return next;
  return find_in_object(inside, [=](void* object) { return dlvsym(object, name, version); });
}

}  // namespace nigh::preload
