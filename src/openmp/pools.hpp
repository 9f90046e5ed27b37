// SPDX-License-Identifier: Apache-2.0
#pragma once
// Thread pools in this process that are not OpenMP (policy/thread_pools.hpp).

#include "preload/hidden.hpp"

namespace nigh::openmp {

// On standard error, a line that names them; nothing where there is none.
NIGH_HIDDEN void tell_pools() noexcept;

}  // namespace nigh::openmp
