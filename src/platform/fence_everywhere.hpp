// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rare half of a fence of which the frequent half costs nothing (sync::light_fence()).

namespace nigh::platform {

// Each thread of the process that runs passes a full fence between the beginning and the end of
// this call, and so does the caller (membarrier(2), Linux 4.14). The first call in a process of
// many threads may take milliseconds. False: the kernel or a sandbox refuses it.
bool fence_everywhere() noexcept;

// Where the process has one thread, makes the first call a quick one.
void prepare_fence_everywhere() noexcept;

}  // namespace nigh::platform
