// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parallel regions of this process, by the address of their code.

#include "coordinator/protocol/message.hpp"
#include "openmp/runtimes.hpp"

namespace nigh::openmp {

struct Region {
  // Bits 0 to 47: where the code is in its file, as addr2line wants it. Above: 0 for the program
  // itself, else 15 bits of the library's name; the highest for code that is in no file.
  coordinator::RegionId id = 0;
  Runtime const* runtime = nullptr;
};

// `code` is the function that the compiler made of the region's body.
NIGH_HIDDEN Region find_region(void const* code, Entry entry, void const* caller) noexcept;

// A library was closed: what comes to lie where it was is something else.
NIGH_HIDDEN void forget_regions() noexcept;

}  // namespace nigh::openmp
