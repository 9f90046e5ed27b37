// SPDX-License-Identifier: Apache-2.0
#pragma once
// OMPT tools: libraries, or functions of the program, that an OpenMP runtime tells what it does.

#include "preload/hidden.hpp"

namespace nigh::openmp {

// A tool would be told of our functions instead of the program's. The sign of such a tool; null:
// there is none.
NIGH_HIDDEN char const* tool_of_the_user() noexcept;

}  // namespace nigh::openmp
