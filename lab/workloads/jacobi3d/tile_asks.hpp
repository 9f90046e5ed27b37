// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lines that pieces of a tile ask memory for during their update, for tile_body.hpp; as there,
// all has internal linkage.
//
// New to the cache are only the outer planes, and only while the tile gets wider. So these are
// asked for, some lines before they are needed, at a row's end those that the next rows begin with.
// Without that, tiles that get wider take twice as long as those that get narrower.
//
// The narrowest have the most new lines an update: the first two pieces would take what memory
// needs for them, as long as a copy of these lines, and those that get narrower would leave memory
// idle. So these ask for what the first two of the next block read. Measured with 12, 16 and 24
// planes on a Xeon: 10 to 14% less time; for the first three or four pieces of a block, or asked
// for by two pieces only, less gain.

#include "jacobi3d/kernel.hpp"

namespace jacobi3d {
namespace {

// A piece of so few planes has outer planes only.
constexpr std::ptrdiff_t few_planes = 2;

// Rows of a piece.
struct TileRows {
  double const* from;
  double* to;
  std::ptrdiff_t row, plane, depth;

  void advance(std::ptrdiff_t rows) noexcept {
    from += rows * row;
    to += rows * row;
  }
};

inline std::ptrdiff_t depth_of(TilePiece const& p) noexcept { return p.box.hi.k - p.box.lo.k; }

inline TileRows rows_of(Grid const& grid, TilePiece const& p) noexcept {
  auto const at = (p.box.lo.k + 1) * grid.plane_pitch + (p.box.lo.j + 1) * grid.row_pitch +
                  Grid::line;  // at(0, ..)
  return {p.from + at, p.to + at, grid.row_pitch, grid.plane_pitch, depth_of(p)};
}

// Where a piece touches planes that the one before it did not.
struct NewSides {
  bool below, above;

  NewSides(bool new_below, bool new_above) noexcept : below(new_below), above(new_above) {}
  NewSides(TilePiece const* pieces, std::ptrdiff_t n) noexcept
      : below(n == 0 || pieces[n].box.lo.k < pieces[n - 1].box.lo.k),
        above(n == 0 || pieces[n].box.hi.k > pieces[n - 1].box.hi.k) {}
};

// As many rows of each plane as are updated at a time, a line further on for each line that is.
struct TileAsks {
  static constexpr int most =
      12;  // for two narrow pieces: two planes on each side, and two that are written

  double const* planes[most];  // site 0 of the first of these rows
  int count = 0;
  int at_a_time = 1;         // as each plane of the piece is updated
  std::ptrdiff_t ahead = 0;  // lines, from what is updated

  void add(double const* plane) noexcept { planes[count++] = plane; }

  // The two outermost planes of what is read on each side that is new. With two planes or less it
  // may be the tile's first step, which writes new ones.
  void add(TileRows const& r, NewSides const& is_new) noexcept {
    auto const top = (r.depth - 1) * r.plane;
    if (is_new.below) {
      add(r.from - r.plane);
      add(r.from + r.row);
    }
    if (is_new.above) {
      add(r.from + top + r.row);
      add(r.from + top + r.plane);
    }
    if (r.depth > few_planes || (!is_new.below && !is_new.above)) return;
    add(r.to);
    add(r.to + top);
  }

  void advance(std::ptrdiff_t sites) noexcept {
    for (int n = 0; n < count; ++n) planes[n] += sites;
  }
};

// A piece's own. More lines ahead where few planes take little time.
inline TileAsks own_asks(TileRows const& r, NewSides const& is_new) noexcept {
  TileAsks asks;
  if (r.depth <= 0) return asks;
  asks.add(r, is_new);
  asks.at_a_time = static_cast<int>((asks.count + r.depth - 1) / r.depth);
  asks.ahead = r.depth <= 2 ? 24 : r.depth <= 4 ? 16 : 8;
  return asks;
}

// Those of the pieces of one block.
class BlockAsks {
 public:
  BlockAsks(Grid const& grid, TilePiece const* pieces, std::ptrdiff_t count) noexcept
      : grid_(grid), pieces_(pieces) {
    if (count <= narrow || depth_of(pieces[0]) <= 0 || depth_of(pieces[0]) > few_planes) return;
    for (std::ptrdiff_t n = narrow; n < count; ++n) spare_ += spare_planes(n);
    for (std::ptrdiff_t n = 0; n < narrow; ++n) {
      auto r = rows_of(grid, pieces[n]);
      r.advance(pieces[n].box.hi.j - pieces[n].box.lo.j);
      next_.add(r, NewSides(pieces, n));
    }
    if (spare_ < next_.count) next_.count = 0;
  }

  // Those of piece n; to be called for one after the other.
  TileAsks of(std::ptrdiff_t n) noexcept {
    auto const spare = next_.count > 0 ? spare_planes(n) : 0;
    if (spare == 0) return next_.count > 0 && n < narrow ? TileAsks() : own(n);
    TileAsks share;
    auto k = next_.count * passed_ / spare_;
    passed_ += spare;
    for (; k < next_.count * passed_ / spare_; ++k) share.add(next_.planes[k]);
    return share;
  }

 private:
  static constexpr std::ptrdiff_t narrow = 2;

  TileAsks own(std::ptrdiff_t n) const noexcept {
    return own_asks(rows_of(grid_, pieces_[n]), NewSides(pieces_, n));
  }
  // All, where nothing is new. The last pieces are done too soon.
  std::ptrdiff_t spare_planes(std::ptrdiff_t n) const noexcept {
    NewSides const is_new(pieces_, n);
    auto const depth = depth_of(pieces_[n]);
    return n < narrow || is_new.below || is_new.above || depth <= few_planes ? 0 : depth;
  }

  Grid const& grid_;
  TilePiece const* pieces_;
  TileAsks next_;  // of the first two pieces of the block behind this one
  std::ptrdiff_t spare_ = 0, passed_ = 0;
};

}  // namespace
}  // namespace jacobi3d
