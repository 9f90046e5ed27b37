// SPDX-License-Identifier: Apache-2.0
#pragma once
// The four operators of the V-cycle, over some rows of one plane. All variants call these, on whole
// planes of the grid or on small tiles in cache, so their fields agree bit for bit; and so do the
// instruction sets, for every point's arithmetic is written in one order and nothing is contracted.

#include <span>
#include <string_view>

#include "npb_mg/config.hpp"
#include "npb_mg/level.hpp"

namespace npb_mg {

// Rows of a plane: row j begins (with i = 1) at base[j * row], on a cache line.
template <class T>
struct Rows {
  T* base = nullptr;
  std::ptrdiff_t row = 0;

  T* operator[](std::ptrdiff_t j) const noexcept { return base + j * row; }
  operator Rows<T const>() const noexcept { return {base, row}; }
  explicit operator bool() const noexcept { return base != nullptr; }
  Rows shifted(std::ptrdiff_t rows) const noexcept { return {base + rows * row, row}; }
};
using In = Rows<double const>;
using Out = Rows<double>;

// A plane and its neighbours in k.
struct Three {
  In below, at, above;
};

struct Sums {
  double squares = 0, largest = 0;  // of values, and of their amounts

  void add(Sums const& other) noexcept {
    squares += other.squares;
    largest = other.largest > largest ? other.largest : largest;
  }
};

struct Kernel {
  std::string_view isa;  // "baseline", "avx2", "avx512"

  // Below, rows are j0 .. j1-1 of n points; inputs have valid ghosts at i = 0 and n+1, and valid
  // rows j0-1 and j1 where neighbours are read. Outputs get the ghosts at i = 0 and n+1, except
  // where it says otherwise.

  // out = v - A u. out may be v.
  void (*residual)(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, Three const& u, In v, Out out);
  // out = u + S r, also into `copy` if that is there: past the caches, and its ghosts left alone.
  // out may be u.
  void (*smooth)(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, Weights const& s, Three const& r,
                 In u, Out out, Out copy);
  // Coarse rows j0 .. j1-1 of n points out = P fine: the coarse row j lies on the fine row 2 j.
  void (*restrict_to)(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, Three const& fine, Out out);
  // One row of n points: out = u + Q z, where the one, two or four rows of z are those coarse
  // ones whose mean lies on it. u may be null (zeros), or the same as out.
  void (*prolong)(int n, std::span<double const* const> z, double const* u, double* out);
  // n is at least a line.
  Sums (*sums)(int n, std::ptrdiff_t j0, std::ptrdiff_t j1, In r);
};

// Those this processor can run, widest last.
std::span<Kernel const> kernels();
// The widest; null when there is none of that name ("" means any).
Kernel const* find_kernel(std::string_view isa);

}  // namespace npb_mg
