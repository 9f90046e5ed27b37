// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a function of nigh.h refuses.

#include <nigh/nigh.h>

namespace nigh::tasks {

// Sets the text of nigh_error(), and returns the status.
int refuse(nigh_status status, char const* function, char const* why) noexcept;

}  // namespace nigh::tasks
