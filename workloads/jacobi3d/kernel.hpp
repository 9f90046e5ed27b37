// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernels: a sweep over one block, which all variants share, and those for tiles of time steps.

#include <span>
#include <string_view>

#include "jacobi3d/grid.hpp"

namespace jacobi3d {

using BlockSweep = void (*)(Grid const& grid, double const* from, double* to,
                            Box const& box) noexcept;

// Slabs of so many planes are stepped together; the ring holds two planes more.
inline constexpr int ring_depth = 12;

// Both time steps of a box of whole rows, the second one into `to`. `ring` describes the scratch
// memory (aligned to cache lines): as long as the grid's rows, with as many rows as the box has or
// more, and ring_depth planes. Boundary rows and planes of `to` must hold the boundary already.
using TwoSteps = void (*)(Grid const& grid, double const* from, double* to, Box const& box,
                          Grid const& ring, double* scratch) noexcept;

// The same arithmetic in the same order on every instruction set, so the same bits. Streaming
// kernels write past the caches (non-temporal stores), which saves the read of the line that is
// about to be overwritten; they end with a fence, so whoever waits for the task sees its stores.
struct Kernel {
  std::string_view isa;  // "baseline", "avx2", "avx512"
  bool streaming = false;
  BlockSweep sweep_block = nullptr;
  TwoSteps two_steps = nullptr;
  // A sweep over a piece of a tile, which several steps find in a cache. Never streaming, for what
  // is written is read again soon. It reads (and ignores) whole lines around the box's rows.
  BlockSweep sweep_in_tile = nullptr;
};

// Those this processor can run, widest last.
std::span<Kernel const> kernels();

// The widest; nullptr when there is none of that kind ("" means any instruction set).
Kernel const* find_kernel(std::string_view isa, bool streaming);

}  // namespace jacobi3d
