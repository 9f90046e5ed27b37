// SPDX-License-Identifier: Apache-2.0
#include "jacobi2d/kernel_body.hpp"

namespace jacobi2d {

Kernel avx512_kernel() noexcept { return {"avx512", sweep_tile}; }

}  // namespace jacobi2d
