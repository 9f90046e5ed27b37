// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pieces of a tile of time steps, for the files that compile it for one instruction set each; as
// in kernel_body.hpp, everything has internal linkage and no function of a library is called.
//
// What such a tile reads has just been written, into a cache; so what the core can load counts,
// which for sweeps is hidden behind memory. Vec::rows rows advance together, plane by plane:
//
//   j + 2   .  r  .        Each vector is loaded once for the rows and planes around it: 1.5 loads
//   j + 1   n  u  h        an update (and two for i - 1 and i + 1) instead of 3, most of them from
//   j       n  u  h        L1. u: updated, with h: loaded anew, n: left from the plane before, and
//   j - 1   .  r  .        r: the rows around, loaded for these.
//           k-1 k k+1
//
// New to the cache are only the outer planes, and only while the tile gets wider. So these are asked
// for, some lines before they are needed, at a row's end those that the next rows begin with. Without
// that, tiles that get wider take twice as long as those that get narrower. Of tiles that begin wide the
// first step's planes are all new.
//
// Two steps go through a row together, the second a cache line behind the first: what that has just
// read and written is in L1 still, and what has to come from L2, two cycles a line, is 1.6 lines an
// update of a line instead of 2.7.

#include "jacobi3d/kernel.hpp"
#include "jacobi3d/kernel_body.hpp"

namespace jacobi3d {
namespace {

// Lines of a row, asked for and not yet used; more where few planes take little time.
constexpr std::ptrdiff_t tile_ahead(std::ptrdiff_t depth) {
  return depth <= 2 ? 24 : depth <= 4 ? 16 : 8;
}

// Whose outer planes are all there are.
constexpr std::ptrdiff_t few_planes = 2;

// Rows of a piece, and on which sides its planes are new to the cache.
struct TileRows {
  double const* from;
  double* to;
  std::ptrdiff_t row, plane, depth;
  bool new_below, new_above;

  void advance(std::ptrdiff_t rows) noexcept {
    from += rows * row;
    to += rows * row;
  }
};

// The lines `soon` further on in `rows` rows: in the two outermost planes of what is read on each side
// that is new. With two planes or less it may be the tile's first step, which writes new ones.
template <int rows>
[[gnu::always_inline]] inline void ask_for_outer_planes(TileRows const& r,
                                                        std::ptrdiff_t soon) noexcept {
  constexpr int read = 0, written = 1, into_l2 = 2;
  std::ptrdiff_t const top = (r.depth - 1) * r.plane;
  auto const* const from = r.from + soon;
  auto const* const to = r.to + soon;
  if (r.new_below) {
#pragma GCC unroll 4
    for (int j = 0; j < rows; ++j) {
      __builtin_prefetch(from - r.plane + j * r.row, read, into_l2);
      __builtin_prefetch(from + (j + 1) * r.row, read, into_l2);
    }
  }
  if (r.new_above) {
#pragma GCC unroll 4
    for (int j = 0; j < rows; ++j) {
      __builtin_prefetch(from + top + (j + 1) * r.row, read, into_l2);
      __builtin_prefetch(from + top + r.plane + j * r.row, read, into_l2);
    }
  }
  if (r.depth > few_planes) return;
#pragma GCC unroll 4
  for (int j = 0; j < rows; ++j) {
    __builtin_prefetch(to + j * r.row, written);
    __builtin_prefetch(to + top + j * r.row, written);
  }
}

// One vector in each of `rows` rows and `depth` planes, `from` and `to` being of the lowest one. The
// row before and the first one were written when the wavefront was last here, and left L2 since.
template <class Vec, int rows, bool asking>
[[gnu::always_inline]] inline void update_column(double const* from, double* to, std::ptrdiff_t row,
                                                 std::ptrdiff_t plane,
                                                 std::ptrdiff_t depth) noexcept {
  using type = typename Vec::type;
  constexpr std::ptrdiff_t soon = 2 * Grid::line;
  auto const a = Vec::broadcast(c1);
  auto const b = Vec::broadcast(c2);
  constexpr auto n = static_cast<unsigned>(rows);
  type below[n], here[n + 2], above[n];  // here: from one row before to one behind
#pragma GCC unroll 4
  for (int j = 0; j < rows; ++j) {
    below[j] = Vec::load(from - plane + j * row);
    here[j + 1] = Vec::load(from + j * row);
  }
  for (std::ptrdiff_t d = 0; d < depth; ++d, from += plane, to += plane) {
    if constexpr (asking) {
      __builtin_prefetch(from - row + soon);
      __builtin_prefetch(from + soon);
    }
    here[0] = Vec::load(from - row);
    here[rows + 1] = Vec::load(from + rows * row);
#pragma GCC unroll 4
    for (int j = 0; j < rows; ++j) above[j] = Vec::load(from + plane + j * row);
#pragma GCC unroll 4
    for (int j = 0; j < rows; ++j) {
      double const* const q = from + j * row;
      auto sum = Vec::before(q, here[j + 1]) + Vec::behind(q, here[j + 1]);
      sum = sum + here[j];
      sum = sum + here[j + 2];
      sum = sum + below[j];
      sum = sum + above[j];
      Vec::store(to + j * row, a * here[j + 1] + b * sum);
    }
#pragma GCC unroll 4
    for (int j = 0; j < rows; ++j) {
      below[j] = here[j + 1];
      here[j + 1] = above[j];
    }
  }
}

// One line of each row and plane; a row has `lines` of these.
template <class Vec, int rows>
[[gnu::always_inline]] inline void update_line(TileRows const& r, std::ptrdiff_t n,
                                               std::ptrdiff_t lines) noexcept {
  auto const soon = n + tile_ahead(r.depth);
  if (r.new_below || r.new_above)
    ask_for_outer_planes<rows>(r, soon * Grid::line +
                                      (soon < lines ? 0 : rows * r.row - lines * Grid::line));
  auto const i = n * Grid::line;
  update_column<Vec, rows, true>(r.from + i, r.to + i, r.row, r.plane, r.depth);
#pragma GCC unroll 1
  for (int v = Vec::width; v < Grid::line; v += Vec::width)
    update_column<Vec, rows, false>(r.from + i + v, r.to + i + v, r.row, r.plane, r.depth);
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

// `r` begins at site 0, and is copied: a store of a vector may, for the compiler, change whatever is
// in memory.
template <class Vec, int rows>
void update_tile_rows(TileRows r, Box const& box) noexcept {
  Lines const lines(box.lo.i, box.hi.i);
  update_sites(r, rows, box.lo.i, lines.begin);
  TileRows inner = r;
  inner.from += lines.begin;
  inner.to += lines.begin;
  for (std::ptrdiff_t n = 0; n < lines.count; ++n) update_line<Vec, rows>(inner, n, lines.count);
  update_sites(r, rows, lines.end(), box.hi.i);
}

// Two steps of sites [0, sites): the second reads what the first writes, a line behind it.
template <class Vec, int rows>
void update_two_steps(TileRows first, TileRows second, std::ptrdiff_t sites) noexcept {
  Lines const lines(0, sites);
  for (std::ptrdiff_t n = 0; n < lines.count; ++n) {
    update_line<Vec, rows>(first, n, lines.count);
    if (n > 0) update_line<Vec, rows>(second, n - 1, lines.count);
  }
  update_sites(first, rows, lines.end(), sites);
  if (lines.count > 0) update_line<Vec, rows>(second, lines.count - 1, lines.count);
  update_sites(second, rows, lines.end(), sites);
}

// `before`: the piece that the same call did before; null: none.
inline TileRows rows_of(Grid const& grid, TilePiece const& p, TilePiece const* before) noexcept {
  auto const& lo = p.box.lo;
  auto const at = (lo.k + 1) * grid.plane_pitch + (lo.j + 1) * grid.row_pitch + Grid::line;  // at(0, ..)
  return {p.from + at,
          p.to + at,
          grid.row_pitch,
          grid.plane_pitch,
          p.box.hi.k - lo.k,
          before == nullptr || lo.k < before->box.lo.k,
          before == nullptr || p.box.hi.k > before->box.hi.k};
}

// Groups of `rows` of them, as long as there are some. How many are left.
template <class Vec, int rows>
std::ptrdiff_t sweep_rows(TileRows& r, std::ptrdiff_t left, Box const& box) noexcept {
  for (; left >= rows; left -= rows) {
    update_tile_rows<Vec, rows>(r, box);
    r.advance(rows);
  }
  return left;
}

template <class Vec>
void sweep_piece(TileRows r, Box const& box) noexcept {
  if (r.depth <= 0) return;
  auto left = box.hi.j - box.lo.j;
  if constexpr (Vec::rows > 2) left = sweep_rows<Vec, Vec::rows>(r, left, box);
  left = sweep_rows<Vec, 2>(r, left, box);
  sweep_rows<Vec, 1>(r, left, box);
}

// All that the box reads and writes is new to the cache: few planes at a time, which are asked for, and few
// enough for the core's own prefetching to follow.
template <class Vec>
void sweep_new_planes(TileRows const& r, Box const& box) noexcept {
  TileRows part = r;
  part.new_above = true;
  for (auto left = r.depth; left > 0; left -= few_planes) {
    part.depth = std::min(left, few_planes);
    part.new_below = left == r.depth;
    sweep_piece<Vec>(part, box);
    part.from += part.depth * r.plane;
    part.to += part.depth * r.plane;
  }
}

// Can both go through a group of rows before the next group? The second reads a row beyond its own, which
// the first must have updated, and so begins a row before it at least. And does what two steps touch
// around a line fit L1? Measured with 48 KiB and groups of four.
template <class Vec>
bool go_together(Box const& first, Box const& second) noexcept {
  constexpr std::ptrdiff_t most_planes = 34;
  auto const rows = [](Box const& b) { return b.hi.j - b.lo.j; };
  auto const planes = [](Box const& b) { return b.hi.k - b.lo.k; };
  return rows(first) == rows(second) && rows(first) % Vec::rows == 0 && second.lo.j < first.lo.j &&
         first.lo.i == 0 && second.lo.i == 0 && first.hi.i == second.hi.i && planes(first) > 0 &&
         planes(second) > 0 && planes(first) + planes(second) <= most_planes;
}

template <class Vec>
void sweep_in_tile(Grid const& grid, TilePiece const* pieces, std::ptrdiff_t count) noexcept {
  for (std::ptrdiff_t n = 0; n < count; ++n) {
    auto const& p = pieces[n];
    auto first = rows_of(grid, p, n > 0 ? pieces + n - 1 : nullptr);
    if (n == 0 && first.depth > few_planes) {
      sweep_new_planes<Vec>(first, p.box);
      continue;
    }
    if (n + 1 == count || pieces[n + 1].from != p.to || !go_together<Vec>(p.box, pieces[n + 1].box)) {
      sweep_piece<Vec>(first, p.box);
      continue;
    }
    auto second = rows_of(grid, pieces[++n], &p);
    for (auto left = p.box.hi.j - p.box.lo.j; left > 0; left -= Vec::rows) {
      update_two_steps<Vec, Vec::rows>(first, second, p.box.hi.i);
      first.advance(Vec::rows);
      second.advance(Vec::rows);
    }
  }
}

}  // namespace
}  // namespace jacobi3d
