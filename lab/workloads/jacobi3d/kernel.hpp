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

// A step of a box, as one of several that follow one another.
struct TilePiece {
  double const* from;
  double* to;
  Box box;
};

// Pieces of a tile, which finds in a cache what it reads. They are done one after the other, or two
// with at most `together` planes in all the second a cache line behind the first along i. Whole
// lines around the boxes' rows are read (and ignored).
using TileSweep = void (*)(Grid const& grid, TilePiece const* pieces, std::ptrdiff_t count,
                           std::ptrdiff_t together) noexcept;

// The same arithmetic in the same order on every instruction set, so the same bits. Streaming
// kernels write past the caches (non-temporal stores), which saves the read of the line that is
// about to be overwritten; they end with a fence, so whoever waits for the task sees its stores.
struct Kernel {
  std::string_view isa;  // "baseline", "avx2", "avx512"
  bool streaming = false;
  BlockSweep sweep_block = nullptr;
  TwoSteps two_steps = nullptr;
  TileSweep sweep_in_tile = nullptr;  // never streaming: what is written is read again soon
  std::ptrdiff_t together = 0;        // what is best for it on this host
};

// 0: pieces are better done one after the other.
std::ptrdiff_t planes_together(std::uint64_t l1_bytes) noexcept;

// Those this processor can run, widest last.
std::span<Kernel const> kernels();

// The widest; nullptr when there is none of that kind ("" means any instruction set).
Kernel const* find_kernel(std::string_view isa, bool streaming);

// The kernels of each instruction set; each is compiled in a file of its own, with its own flags.

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
