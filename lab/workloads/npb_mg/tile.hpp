// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several operators over one tile of a level in one pass, each some planes behind the one before,
// so that what lies between them never leaves the cache.

#include <span>
#include <vector>

#include "npb_mg/kernel.hpp"

namespace npb_mg {

// The coarse rows whose mean lies on a fine row.

// A fine row (j, k) with even j lies on the coarse row j / 2, one with odd j between two of them;
// and so in k. plane(kc) is the coarse plane kc.
class CoarseRows {
 public:
  template <class PlaneOf>
  CoarseRows(std::ptrdiff_t j, std::ptrdiff_t k, PlaneOf const& plane) {
    for (auto kc = k / 2; kc <= (k + 1) / 2; ++kc)
      for (auto jc = j / 2; jc <= (j + 1) / 2; ++jc) row_[count_++] = plane(kc)[jc];
  }
  // The same where row and plane 0 are not there: they repeat those of index n.
  template <class PlaneOf>
  CoarseRows(std::ptrdiff_t j, std::ptrdiff_t k, std::ptrdiff_t n, PlaneOf const& plane) {
    for (auto kc = k / 2; kc <= (k + 1) / 2; ++kc)
      for (auto jc = j / 2; jc <= (j + 1) / 2; ++jc)
        row_[count_++] = plane(kc == 0 ? n : kc)[jc == 0 ? n : jc];
  }
  std::span<double const* const> rows() const noexcept { return {row_, count_}; }

 private:
  double const* row_[4];
  std::size_t count_ = 0;
};

// Rows j0 .. j1-1 of the planes k0 .. k1-1. All borders are odd, so that every coarse point belongs
// to one tile.
struct Tile {
  std::ptrdiff_t j0 = 0, j1 = 0, k0 = 0, k1 = 0;
};

// A level's field in memory. Ghosts in j and k are not read: indices wrap.
struct Field {
  double* all = nullptr;  // the array that holds all levels
  Level const* level = nullptr;

  explicit operator bool() const noexcept { return all != nullptr; }
  Out plane(std::ptrdiff_t k) const noexcept { return {all + level->at(0, k), level->layout.row}; }
};

// The update of every point of a level by a pass:
//
//   w  = u + Q z        without u: Q z; without both: zero
//   r  = v - A w
//   x  = w + S r        into `to`
//   r' = v - A x        if there is `coarse` or `sums`: its restriction, its norm
//
// `u` and `to` are different memory, so tiles do not depend on each other: near its border each
// computes again what its neighbours compute. With `smoother` null x is u, and is not written.
struct Pass {
  int n = 0;
  Kernel const* kernel = nullptr;
  Weights const* smoother = nullptr;
  Field u{}, z{}, v{}, to{}, coarse{};
  bool sums = false;
  bool past_caches = false;  // `to` will not be read again soon
};

// Planes in flight, of one thread; kept from tile to tile.
class Rings {
 public:
  // The planes k, k-1, k-2 of a field over some rows of a tile.
  class Ring {
   public:
    Out plane(std::ptrdiff_t k) const noexcept {
      return {base_ + ((k % 3 + 3) % 3) * layout_.plane, layout_.row};
    }
    Three around(std::ptrdiff_t k) const noexcept { return {plane(k - 1), plane(k), plane(k + 1)}; }

   private:
    friend class Rings;
    double* base_ = nullptr;  // of row 0, whether the ring has that or not
    Layout layout_;
  };

  Ring w, r, x, q;

  // For tiles of n-point rows from j0 - 3 to j1 + 3.
  void fit(int n, Tile const& tile);
  static std::size_t bytes(int n, std::ptrdiff_t rows) noexcept;  // for tiles of so many rows

 private:
  std::vector<double> memory_;
};

// Coarse rows j0 .. j1-1 of the plane k, and of the ghost row n+1 what it repeats: the rows beyond
// the last that the next restriction reads.
void restrict_rows(Kernel const& kernel, Three const& fine, Field const& coarse, std::ptrdiff_t j0,
                   std::ptrdiff_t j1, std::ptrdiff_t k);

// Runs a pass over one tile; the sums are those of the tile.
Sums run_tile(Pass const& pass, Tile const& tile, Rings& rings);

}  // namespace npb_mg
