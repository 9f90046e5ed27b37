// SPDX-License-Identifier: Apache-2.0
#pragma once
// A number that stands for a program's file: the same whenever this program runs, another one when
// it is built anew. Nothing here throws or allocates.

#include <cstdint>

namespace nigh::platform {

// From the linker's build id; from path, size and time of change where there is none. 0: the file
// cannot be read, is no program, or has no dynamic linker. (The dynamic linker itself has none, and
// is what /proc/self/exe shows of a program that was started by its name.)
std::uint64_t binary_identity(char const* file) noexcept;

// As well of a library, which needs no dynamic linker of its own.
std::uint64_t library_identity(char const* file) noexcept;

// Of the running program.
std::uint64_t own_identity() noexcept;

}  // namespace nigh::platform
