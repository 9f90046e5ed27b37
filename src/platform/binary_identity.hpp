// SPDX-License-Identifier: Apache-2.0
#pragma once
// A number that stands for a program's file: the same whenever this program runs, another one after
// it is built anew. Nothing here throws or allocates.

#include <cstdint>

namespace nigh::platform {

// From the linker's build id; without one, from path, size and time of change. 0: the file cannot
// be read, is no program, or names no dynamic linker. (The dynamic linker itself names none;
// /proc/self/exe shows it for a program that was started by its name.)
std::uint64_t binary_identity(char const* file) noexcept;

// The same for a library, which needs to name no dynamic linker.
std::uint64_t library_identity(char const* file) noexcept;

// Of the running program.
std::uint64_t own_identity() noexcept;

}  // namespace nigh::platform
