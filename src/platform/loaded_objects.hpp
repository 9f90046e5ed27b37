// SPDX-License-Identifier: Apache-2.0
#pragma once
// The objects that this process has loaded, by their tables in memory: for preloaded libraries,
// which bring no libelf along, and where files may have changed since they were loaded.

#include <cstdint>
#include <string_view>

namespace nigh::platform {

// How often objects have been loaded so far; 0: nobody knows.
unsigned long long times_loaded() noexcept;

// How often objects have been unloaded so far.
struct TimesUnloaded {
  bool is_known = false;
  unsigned long long times = 0;
};
TimesUnloaded times_unloaded() noexcept;

using SeeImport = void (*)(std::string_view name, void* context) noexcept;
// Calls see() for each function and variable that an object takes from another.
void for_each_import(SeeImport see, void* context) noexcept;

using SeeBound = void (*)(std::string_view name, void const* function, void* context) noexcept;
// Calls see() for each function that the object of this code takes from another one and that the
// loader has bound by now. see() asks the loader nothing.
void for_each_bound(void const* code, SeeBound see, void* context) noexcept;

// The version of `name` that the object of this code asks for, as the loader would look it up;
// null: it asks for none, or not for that name.
char const* version_asked_for(void const* code, char const* name) noexcept;

// Whether a loaded object may have a function or variable of that name: false is certain. Of
// objects loaded after the one that holds `after`, where that is not null. dlsym() allocates when
// it finds nothing, and a program whose own malloc() works from main() on does not bear that
// earlier.
bool may_define(char const* name, void const* after) noexcept;

// The object that holds some code. `file`: as the loader knows it, empty for the program; null: no
// object does. `begin`, `end`: of all its parts. `moved_by`: from the addresses in its file.
struct LoadedObject {
  char const* file = nullptr;
  std::uintptr_t moved_by = 0, begin = 0, end = 0;

  bool holds(void const* code) const noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(code);
    return begin <= address && address < end;
  }
};
// Unlike dladdr(), it does not wait for another thread that is in dlopen(), where constructors may
// wait for the calling thread.
LoadedObject find_object(void const* code) noexcept;

}  // namespace nigh::platform
