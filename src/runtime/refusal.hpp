// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a function of nigh.h does when it refuses.

#include <nigh/nigh.h>

namespace nigh::tasks {

// Returns the status, after nigh_error() has been told why.
int refuse(nigh_status status, char const* function, char const* why) noexcept;

}  // namespace nigh::tasks
