// SPDX-License-Identifier: Apache-2.0
#pragma once
// The place of a function in the program or a library, which names its code from run to run.

#include <string.h>

#include <cstdint>

#include "coordinator/protocol/region_id.hpp"
#include "platform/loaded_objects.hpp"

namespace nigh::openmp {

struct CodePlace {
  coordinator::RegionId id;
  char const* library;  // its file; empty: the program; null: the code is in no file
};

inline CodePlace place_of_code(void const* code) noexcept {
  auto const address = reinterpret_cast<std::uintptr_t>(code);
  auto const object = platform::find_object(code);
  if (object.file == nullptr)
    return {coordinator::in_no_file | coordinator::address_of(address), nullptr};
  auto const offset = address - object.moved_by;
  char const* const path = object.file;
  if (*path == '\0') return {coordinator::region_in(0, offset), ""};
  char const* const slash = strrchr(path, '/');
  char const* const name = slash != nullptr ? slash + 1 : path;
  return {coordinator::region_in(coordinator::library_number(name), offset), path};
}

}  // namespace nigh::openmp
