// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory that two processes share, handed over as a descriptor. Nothing here throws or allocates.

#include <cstddef>

namespace nigh::platform {

// `bytes` of zeroes under a new descriptor, whose size nobody can change any more, so that a
// process that maps them can rely on them. -errno when there is no room.
int make_shared_memory(std::size_t bytes) noexcept;

// Null when the system refuses, or the memory is smaller or may shrink. An `at` that is not null is
// a mapping of that size, replaced in one step, for threads that use it meanwhile.
void* map_shared(int descriptor, std::size_t bytes, void* at = nullptr) noexcept;
// Replaces it by zeroes that nobody shares.
void unshare(void* at, std::size_t bytes) noexcept;
void unmap_shared(void* at, std::size_t bytes) noexcept;

}  // namespace nigh::platform
