// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kernel, which all variants share: a time step of some rows and columns.

#include <cstddef>
#include <span>
#include <string_view>

namespace jacobi2d {

// `from` and `to` are the first point; rows lie `row` doubles apart in both.
using SweepTile = void (*)(double const* from, double* to, std::ptrdiff_t row, std::ptrdiff_t rows,
                           std::ptrdiff_t columns) noexcept;

// The same arithmetic in the same order on every instruction set, so the same bits.
struct Kernel {
  std::string_view isa;  // "baseline", "avx2", "avx512"
  SweepTile sweep = nullptr;
};

// Those this processor can run, widest last.
std::span<Kernel const> kernels();
// The widest; null when there is none of that name ("" means any).
Kernel const* find_kernel(std::string_view isa);

// Each is compiled in a file of its own, with its own flags.
Kernel baseline_kernel() noexcept;
Kernel avx2_kernel() noexcept;
Kernel avx512_kernel() noexcept;

}  // namespace jacobi2d
