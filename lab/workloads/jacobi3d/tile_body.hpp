// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pieces of a tile of time steps, for the files that compile it for one instruction set each; as
// in kernel_body.hpp, everything has internal linkage and no function of a library is called.
//
// Such a tile reads what has just been written into a cache. So its time depends on what the core
// can load, which for sweeps is hidden behind memory. Vec::rows rows advance together, plane by
// plane:
//
//   j + 2   .  r  .     u: updated, with h: loaded anew, n: left from the plane before (the first
//   j + 1   n  u  h     row as sums), r: the rows around, loaded for these. Each vector is loaded
//   j       n  u  h     once for the rows and planes around it: 1.5 loads an update (and two for
//   j - 1   .  r  .     i - 1 and i + 1) instead of 3, most of them from L1.
//           k-1 k k+1
//
// A site's upper neighbours (j + 1 and k + 1) are the lower ones of site (j + 1, k + 1): added up
// once.
//
// A tile asks for what is new to the cache (tile_asks.hpp). Of tiles that begin wide the first
// step's planes are all new.
//
// Where L1 is large enough two steps go through a row together, the second a cache line behind the
// first: what that has just read and written is in L1 still, and what has to come from L2, two
// cycles a line, is 1.6 lines an update of a line instead of 2.7.

#include <algorithm>

#include "jacobi3d/kernel.hpp"
#include "jacobi3d/kernel_body.hpp"
#include "jacobi3d/tile_asks.hpp"

namespace jacobi3d {
namespace {

// Rows of a piece, and what is asked for meanwhile.
struct TileWork {
  TileRows rows;
  TileAsks asks;

  void advance(std::ptrdiff_t n) noexcept {
    rows.advance(n);
    asks.advance(n * rows.row);
  }
};

// One vector in each of `rows` rows and all planes, from site i on; and lines that are asked for,
// `asked` sites behind site 0. The row before and the first one were written when the wavefront was
// last here, and left L2 since.
template <class Vec, int rows, bool asking>
[[gnu::always_inline]] inline void update_column(TileWork const& work, std::ptrdiff_t i,
                                                 std::ptrdiff_t asked) noexcept {
  auto const& [r, asks] = work;
  auto const row = r.row, plane = r.plane, depth = r.depth;
  auto const* from = r.from + i;
  auto* to = r.to + i;
  auto const* const* ask = asks.planes;
  auto const* const* const last_ask = ask + asks.count;
  using type = typename Vec::type;
  constexpr std::ptrdiff_t soon = 2 * Grid::line;
  constexpr int read = 0, into_l2 = 2;
  auto const a = Vec::broadcast(c1);
  auto const b = Vec::broadcast(c2);
  constexpr auto n = static_cast<unsigned>(rows);
  // here: of the plane, from the first row to one behind. lower[j]: what is lower of row j; of the
  // first row only what lies in the plane below.
  type here[n + 1], lower[n];
#pragma GCC unroll 4
  for (int j = 0; j < rows; ++j) {
    here[j] = Vec::load(from + j * row);
    lower[j] = Vec::load(from - plane + j * row);
    if (j > 0) lower[j] = here[j - 1] + lower[j];
  }
  for (std::ptrdiff_t d = 0; d < depth; ++d, from += plane, to += plane) {
    if constexpr (asking) {
      __builtin_prefetch(from - row + soon);
      __builtin_prefetch(from + soon);
      for (int left = asks.at_a_time; left > 0 && ask != last_ask; --left, ++ask)
#pragma GCC unroll 4
        for (int j = 0; j < rows; ++j) __builtin_prefetch(*ask + asked + j * row, read, into_l2);
    }
    auto low = Vec::load(from - row) + lower[0];
    lower[0] = here[0];
    here[rows] = Vec::load(from + rows * row);
#pragma GCC unroll 4
    for (int j = 0; j < rows; ++j) {
      double const* const q = from + j * row;
      auto const centre = here[j];
      here[j] = Vec::load(q + plane);
      auto const up = here[j + 1] + here[j];
      auto const sum = (Vec::before(q, centre) + Vec::behind(q, centre)) + (low + up);
      Vec::store(to + j * row, a * centre + b * sum);
      if (j + 1 == rows) break;
      low = lower[j + 1];
      lower[j + 1] = up;
    }
  }
}

// One line of each row and plane; a row has `lines` of these.
template <class Vec, int rows>
[[gnu::always_inline]] inline void update_line(TileWork const& work, std::ptrdiff_t n,
                                               std::ptrdiff_t lines) noexcept {
  auto const soon = n + work.asks.ahead;
  auto const asked =
      soon * Grid::line + (soon < lines ? 0 : rows * work.rows.row - lines * Grid::line);
  auto const i = n * Grid::line;
  update_column<Vec, rows, true>(work, i, asked);
#pragma GCC unroll 1
  for (int v = Vec::width; v < Grid::line; v += Vec::width)
    update_column<Vec, rows, false>(work, i + v, asked);
}

// Sites [begin, end) of each of these rows.
inline void update_sites(TileRows const& r, int rows, std::ptrdiff_t begin,
                         std::ptrdiff_t end) noexcept {
  Slab const s{r.from, r.to, r.row, r.plane};
  for (std::ptrdiff_t d = 0; d < r.depth; ++d)
    for (int j = 0; j < rows; ++j)
      for (auto i = begin; i < end; ++i) update_site(s, d * r.plane + j * r.row + i);
}

// Whole lines within sites [begin, end), from the first that begins there on.
struct Lines {
  std::ptrdiff_t begin, count;

  Lines(std::ptrdiff_t first_site, std::ptrdiff_t end) noexcept
      : begin((first_site + Grid::line - 1) / Grid::line * Grid::line) {
    if (begin > end) begin = end;
    count = (end - begin) / Grid::line;
  }
  std::ptrdiff_t end() const noexcept { return begin + count * Grid::line; }
};

// `work` begins at site 0, and is copied: a store of a vector may, for the compiler, change
// whatever is in memory.
template <class Vec, int rows>
void update_tile_rows(TileWork work, Box const& box) noexcept {
  Lines const lines(box.lo.i, box.hi.i);
  update_sites(work.rows, rows, box.lo.i, lines.begin);
  TileWork inner = work;
  inner.rows.from += lines.begin;
  inner.rows.to += lines.begin;
  inner.asks.advance(lines.begin);
  for (std::ptrdiff_t n = 0; n < lines.count; ++n) update_line<Vec, rows>(inner, n, lines.count);
  update_sites(work.rows, rows, lines.end(), box.hi.i);
}

// Two steps of sites [0, sites): the second reads what the first writes, a line behind it.
template <class Vec, int rows>
void update_two_steps(TileWork first, TileWork second, std::ptrdiff_t sites) noexcept {
  Lines const lines(0, sites);
  for (std::ptrdiff_t n = 0; n < lines.count; ++n) {
    update_line<Vec, rows>(first, n, lines.count);
    if (n > 0) update_line<Vec, rows>(second, n - 1, lines.count);
  }
  update_sites(first.rows, rows, lines.end(), sites);
  if (lines.count > 0) update_line<Vec, rows>(second, lines.count - 1, lines.count);
  update_sites(second.rows, rows, lines.end(), sites);
}

// Groups of `rows` of them, as long as there are some. How many are left.
template <class Vec, int rows>
std::ptrdiff_t sweep_rows(TileWork& work, std::ptrdiff_t left, Box const& box) noexcept {
  for (; left >= rows; left -= rows) {
    update_tile_rows<Vec, rows>(work, box);
    work.advance(rows);
  }
  return left;
}

template <class Vec>
void sweep_piece(TileWork work, Box const& box) noexcept {
  if (work.rows.depth <= 0) return;
  auto left = box.hi.j - box.lo.j;
  if constexpr (Vec::rows > 2) left = sweep_rows<Vec, Vec::rows>(work, left, box);
  left = sweep_rows<Vec, 2>(work, left, box);
  sweep_rows<Vec, 1>(work, left, box);
}

// All that the box reads and writes is new to the cache: few planes at a time, which are asked for,
// and few enough for the core's own prefetching to follow.
template <class Vec>
void sweep_new_planes(TileRows rows, Box const& box) noexcept {
  auto const planes = rows.depth;
  for (auto left = planes; left > 0; left -= few_planes) {
    rows.depth = std::min(left, few_planes);
    sweep_piece<Vec>({rows, own_asks(rows, {left == planes, true})}, box);
    rows.from += rows.depth * rows.plane;
    rows.to += rows.depth * rows.plane;
  }
}

// Can both go through a group of rows before the next group? The second reads a row beyond its own,
// which the first must have updated, and so begins a row before it at least. And not more planes
// than fit L1.
template <class Vec>
bool go_together(Box const& first, Box const& second, std::ptrdiff_t most_planes) noexcept {
  auto const rows = [](Box const& b) { return b.hi.j - b.lo.j; };
  auto const planes = [](Box const& b) { return b.hi.k - b.lo.k; };
  return rows(first) == rows(second) && rows(first) % Vec::rows == 0 && second.lo.j < first.lo.j &&
         first.lo.i == 0 && second.lo.i == 0 && first.hi.i == second.hi.i && planes(first) > 0 &&
         planes(second) > 0 && planes(first) + planes(second) <= most_planes;
}

template <class Vec>
void sweep_in_tile(Grid const& grid, TilePiece const* pieces, std::ptrdiff_t count,
                   std::ptrdiff_t together) noexcept {
  BlockAsks asks(grid, pieces, count);
  auto const work_of = [&](std::ptrdiff_t n) {
    return TileWork{rows_of(grid, pieces[n]), asks.of(n)};
  };
  for (std::ptrdiff_t n = 0; n < count; ++n) {
    auto const& p = pieces[n];
    auto first = work_of(n);
    if (n == 0 && first.rows.depth > few_planes) {
      sweep_new_planes<Vec>(first.rows, p.box);
      continue;
    }
    if (n + 1 == count || pieces[n + 1].from != p.to ||
        !go_together<Vec>(p.box, pieces[n + 1].box, together)) {
      sweep_piece<Vec>(first, p.box);
      continue;
    }
    auto second = work_of(++n);
    for (auto left = p.box.hi.j - p.box.lo.j; left > 0; left -= Vec::rows) {
      update_two_steps<Vec, Vec::rows>(first, second, p.box.hi.i);
      first.advance(Vec::rows);
      second.advance(Vec::rows);
    }
  }
}

}  // namespace
}  // namespace jacobi3d
