// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rare half of a fence of which the frequent half costs nothing (sync::light_fence()).

namespace nigh::platform {

// Whether there is such a fence: a system call, which the kernel or a sandbox may refuse. The first
// call in a process of many threads may take milliseconds.
bool has_fence_everywhere() noexcept;

// Each thread of the process that runs passes a full fence between the beginning and the end of
// this call, and so does the caller (membarrier(2), Linux 4.14). Only where there is one.
void fence_everywhere() noexcept;

}  // namespace nigh::platform
