// SPDX-License-Identifier: Apache-2.0
#include "jacobi2d/kernel_body.hpp"

namespace jacobi2d {

Kernel baseline_kernel() noexcept { return {"baseline", sweep_tile}; }

}  // namespace jacobi2d
