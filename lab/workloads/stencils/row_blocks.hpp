// SPDX-License-Identifier: Apache-2.0
#pragma once
// Jacobi's method on a square grid, by blocks of rows. A block takes as many rows of its neighbours
// along as it has sweeps, so that blocks exchange nothing meanwhile; a round is that many sweeps of
// all blocks. The result is the same bit for bit as that of plain sweeps over the whole grid.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stencils {

using Rows = std::vector<double>;

struct RowBlocks {
  long side;    // cells of a row, and rows
  long blocks;  // of the grid
  long sweeps;  // in a round

  long first(long block) const { return side * block / blocks; }
  long count(long block) const { return first(block + 1) - first(block); }
  long first_taken(long block) const { return std::max(0L, first(block) - sweeps); }

  Rows take(Rows const& grid, long block) const {
    long const end = std::min(side, first(block + 1) + sweeps);
    return {grid.begin() + first_taken(block) * side, grid.begin() + end * side};
  }
  // The block's own rows; those of its neighbours are too old by now.
  void put_back(Rows const& swept, long block, Rows& grid) const {
    auto const from = swept.begin() + (first(block) - first_taken(block)) * side;
    std::copy(from, from + count(block) * side, grid.begin() + first(block) * side);
  }
};

// All cells but those of the border, which keep their values. `next` is as large as `rows`, with
// the same border.
inline void sweep(Rows& rows, Rows& next, long side) {
  long const count = static_cast<long>(rows.size()) / side;
  for (long r = 1; r + 1 < count; ++r) {
    double const* const at = rows.data() + r * side;
    double* const to = next.data() + r * side;
    for (long c = 1; c + 1 < side; ++c)
      to[c] = 0.25 * (at[c - 1] + at[c + 1] + at[c - side] + at[c + side]);
  }
  std::swap(rows, next);
}

inline Rows first_grid(long side) {
  Rows grid(static_cast<std::size_t>(side * side));
  for (long i = 0; i < side; ++i) {
    grid[static_cast<std::size_t>(i)] = 1;                                            // above
    grid[static_cast<std::size_t>(i * side)] = 0.5 + 0.001 * static_cast<double>(i);  // on the left
  }
  return grid;
}

inline std::uint64_t hash_of(Rows const& grid) {
  std::uint64_t hash = 1469598103934665603u;
  for (double const cell : grid)
    hash = (hash ^ std::bit_cast<std::uint64_t>(cell)) * 1099511628211u;
  return hash;
}

// Without blocks.
inline std::uint64_t hash_after(long sweeps, long side) {
  auto grid = first_grid(side), next = grid;
  for (long i = 0; i < sweeps; ++i) sweep(grid, next, side);
  return hash_of(grid);
}

}  // namespace stencils
