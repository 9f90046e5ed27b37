// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one kernel all variants share: a sweep over one block.

#include <span>
#include <string_view>

#include "jacobi3d/grid.hpp"

namespace jacobi3d {

using BlockSweep = void (*)(Grid const& grid, double const* from, double* to,
                            Box const& box) noexcept;

// The same arithmetic in the same order on every instruction set, so the same bits. Streaming
// kernels write past the caches (non-temporal stores), which saves the read of the line that is
// about to be overwritten; they end with a fence, so whoever waits for the task sees its stores.
struct Kernel {
  std::string_view isa;  // "baseline", "avx2", "avx512"
  bool streaming = false;
  BlockSweep sweep_block = nullptr;
};

// Those this processor can run, widest last.
std::span<Kernel const> kernels();

// The widest; nullptr when there is none of that kind ("" means any instruction set).
Kernel const* find_kernel(std::string_view isa, bool streaming);

}  // namespace jacobi3d
