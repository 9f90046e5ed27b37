// SPDX-License-Identifier: Apache-2.0
#pragma once
// The four operators of the V-cycle, over some rows of one plane. All variants call these, on whole
// planes of the grid or on small tiles in cache, so their fields agree bit for bit; and so do the
// instruction sets, for every point's arithmetic is written in one order and nothing is contracted.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace npb_mg {

// The problem: the multigrid benchmark of the NAS Parallel Benchmarks (Bailey and others 1991).
//
// A u = v on a periodic cube of n^3 points, approximately, by a fixed number of V-cycles. The right
// side is twenty point charges, the answer the root-mean-square of r = v - A u.

// Weights of a 27-point operator by the neighbour's distance: itself, face, edge, corner.
using Weights = std::array<double, 4>;

inline constexpr Weights operator_a{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
inline constexpr Weights smoother_a{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
inline constexpr Weights smoother_b{-3.0 / 17, 1.0 / 33, -1.0 / 61, 0};

struct Class {
  char name = '?';
  int n = 0;  // points along each side, a power of two
  int iterations = 0;
  Weights const* smoother = nullptr;
  double norm = 0;  // published, of the last residual

  constexpr std::size_t points() const noexcept {
    auto const side = static_cast<std::size_t>(n);
    return side * side * side;
  }
};

inline constexpr double tolerance = 1e-8;  // of the norm, relative

Class const* find_class(std::string_view name) noexcept;  // "B" or "b"; null: there is none

bool verified(Class const& size, double norm) noexcept;
// Million operations per second, at 58 a point and iteration: nominal, not counted.
double mops(Class const& size, double seconds) noexcept;

// Where a grid point lies in memory, on every level of the multigrid.

// Doubles in a cache line, and in the widest vector: kernels load and store up to so many beyond a
// row's end.
inline constexpr std::ptrdiff_t line = 8;

// Some planes of doubles, row by row. Rows are whole cache lines, and so is what lies before i = 1:
//
//   row    [ 7 unused or shared | i = 0 | i = 1 .. n | i = n+1 is the next row's first ]
//
// Rows and planes are an odd number of lines apart, so that those a stencil reads at one time fall
// into different cache sets.
struct Layout {
  std::ptrdiff_t row = 0;    // doubles from a row to the next
  std::ptrdiff_t plane = 0;  // from a plane to the next

  Layout() = default;
  Layout(int n, std::ptrdiff_t rows) noexcept;
};

// One level's grid of n^3 points, indices 1 .. n, and a ghost layer around it: index 0 repeats n,
// index n+1 repeats 1.
struct Level {
  int n = 0;
  Layout layout;
  std::ptrdiff_t offset = 0;  // of the level in the array that holds all of them

  // Offset of the point (1, j, k) within the array.
  std::ptrdiff_t at(std::ptrdiff_t j, std::ptrdiff_t k) const noexcept {
    return offset + k * layout.plane + j * layout.row + line;
  }
  std::size_t elements() const noexcept;
};

// All levels of a grid, the coarsest (n = 2) first.
std::vector<Level> levels_of(int n);

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

// The kernels of each instruction set; each is compiled in a file of its own, with its own flags.

Kernel baseline_kernel() noexcept;
Kernel avx2_kernel() noexcept;
Kernel avx512_kernel() noexcept;

}  // namespace npb_mg
