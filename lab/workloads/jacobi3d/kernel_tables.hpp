// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels of each instruction set; each is compiled in a file of its own, with its own flags.

#include "jacobi3d/kernel.hpp"

namespace jacobi3d {

struct KernelPair {
  BlockSweep plain = nullptr;
  BlockSweep streaming = nullptr;
  TwoSteps two_steps_plain = nullptr;
  TwoSteps two_steps_streaming = nullptr;
  TileSweep in_tile = nullptr;
};

KernelPair baseline_kernels() noexcept;
KernelPair avx2_kernels() noexcept;
KernelPair avx512_kernels() noexcept;

}  // namespace jacobi3d
