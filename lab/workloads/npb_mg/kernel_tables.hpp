// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels of each instruction set; each is compiled in a file of its own, with its own flags.

#include "npb_mg/kernel.hpp"

namespace npb_mg {

Kernel baseline_kernel() noexcept;
Kernel avx2_kernel() noexcept;
Kernel avx512_kernel() noexcept;

}  // namespace npb_mg
