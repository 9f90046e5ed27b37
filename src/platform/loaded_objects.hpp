// SPDX-License-Identifier: Apache-2.0
#pragma once
// The imports of all objects that this process has loaded, by their tables in memory: for preloaded
// libraries, which bring no libelf along, and where files may have changed since they were loaded.

#include <string_view>

namespace nigh::platform {

// How often objects have been loaded so far; 0: nobody knows.
unsigned long long times_loaded() noexcept;

using SeeImport = void (*)(std::string_view name, void* context) noexcept;
// Calls see() for each function and variable that an object takes from another.
void for_each_import(SeeImport see, void* context) noexcept;

}  // namespace nigh::platform
