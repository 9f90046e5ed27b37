// SPDX-License-Identifier: Apache-2.0
#pragma once
// TimeTiles: which points of which time steps make one tile of a stencil, and which tiles must be
// done before it?
//
// Diamonds in one dimension of the grid and in time (Orozco and Gao 2009; Malas, Hager et al.
// 2015). The grid is cut into blocks. A value at `reach` r spreads by r points a step, so from each
// cut two lines go up, one to each side, and the tiles are what lies between four of them:
//
//   step   \   /\   /\   /        A tile is done when the tiles below it, to the left and to the
//     ^     \ /  \ /  \ /         right, are. It needs nobody at its own height, and nobody waits
//     |      X    X    X          for all of a step.
//     |     / \  / \  / \         row 1
//     |    /   \/   \/   \        row 0
//     0 ---+----+----+----+--- > points
//
// A tile is (left, right): point z at step t lies in block `left` when seen along the lines that go
// down to the right (z + r t), in block `right` along the others (z - r t). Its row is left -
// right. Values are kept for two steps only. A tile that writes step t overwrites step t - 2; the
// tiles that have read t - 2 are among those whose step t - 1 it reads itself.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/assert.hpp"

namespace nigh::policy {

struct Tile {
  std::int64_t row = 0;
  std::int64_t left = 0;  // block, counted on beyond both ends of the grid

  bool operator==(Tile const&) const = default;
};

struct Interval {
  std::int64_t begin = 0, end = 0;

  constexpr bool empty() const noexcept { return begin >= end; }
  constexpr bool operator==(Interval const&) const = default;
};

// The points and steps of a tile.
class Diamond {
 public:
  // The blocks that a tile is in (see above) where they are at step 0.
  Diamond(Interval left, Interval right, std::int64_t points, std::int64_t reach, bool periodic,
          std::int64_t steps) noexcept
      : left_(left),
        right_(right),
        points_(points),
        reach_(reach),
        periodic_(periodic),
        steps_{std::max<std::int64_t>(floor(left.begin - right.end, 2 * reach) + 1, 1),
               std::min(floor(left.end - right.begin - 1, 2 * reach) + 1, steps + 1)} {}

  Interval steps() const noexcept { return steps_; }
  // On a periodic grid, points before 0 or beyond the end are those at the other end.
  Interval points(std::int64_t step) const noexcept {
    auto const spread = reach_ * step;
    Interval const all{std::max(left_.begin - spread, right_.begin + spread),
                       std::min(left_.end - spread, right_.end + spread)};
    if (periodic_) return all;
    return {std::max<std::int64_t>(all.begin, 0), std::min(all.end, points_)};
  }
  bool empty() const noexcept {
    for (auto s = steps_.begin; s < steps_.end; ++s)
      if (!points(s).empty()) return false;
    return true;
  }

  static constexpr std::int64_t floor(std::int64_t a, std::int64_t b) noexcept {
    return a / b - (a % b < 0);
  }

 private:
  Interval left_, right_;
  std::int64_t points_, reach_;
  bool periodic_;
  Interval steps_;
};

class TimeTiles {
 public:
  // Steps are 1 .. steps; the values of step 0 are given. Blocks have `width` points or somewhat
  // more, and at least twice the reach; the grid has at least one block.
  TimeTiles(std::int64_t points, std::int64_t reach, bool periodic, std::int64_t width,
            std::int64_t steps)
      : points_(points),
        reach_(reach),
        steps_(steps),
        blocks_(points / std::max<std::int64_t>(width, 1)),
        periodic_(periodic) {
    NIGH_ASSERT(reach >= 1 && width >= 2 * reach && blocks_ >= 1,
                "a block holds what its ends reach");
    for (std::int64_t b = 0; b <= blocks_; ++b) cuts_.push_back(b * points_ / blocks_);
    while (first_step_of_row(rows_) <= steps_) ++rows_;
  }

  // Tiles are numbered row by row. Some numbers name tiles without points.
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return periodic_ ? blocks_ : blocks_ + 3; }
  std::size_t numbers() const noexcept { return static_cast<std::size_t>(rows_ * columns()); }
  std::int64_t blocks() const noexcept { return blocks_; }

  Tile tile(std::size_t number) const noexcept {
    auto const n = static_cast<std::int64_t>(number);
    std::int64_t const row = n / columns(), column = n % columns();
    return {row, row / 2 + column - (periodic_ ? 0 : 1)};
  }
  // For a tile in [0, rows()). -1: there is no such tile.
  std::int64_t number(Tile t) const noexcept {
    if (t.row < 0 || t.row >= rows_) return -1;
    std::int64_t column = t.left - t.row / 2;
    if (periodic_)
      column = modulo(column, blocks_);
    else if (++column < 0 || column >= columns())
      return -1;
    return t.row * columns() + column;
  }

  // The tiles that may write what it reads, or read what it overwrites. Each may be without points.
  std::array<Tile, 3> before(Tile t) const noexcept {
    return {Tile{t.row - 1, t.left - 1}, Tile{t.row - 1, t.left}, Tile{t.row - 2, t.left - 1}};
  }
  std::array<Tile, 3> behind(Tile t) const noexcept {
    return {Tile{t.row + 1, t.left + 1}, Tile{t.row + 1, t.left}, Tile{t.row + 2, t.left + 1}};
  }

  // f(number) for those of them that exist, with points or without.
  template <class F>
  void for_each(std::array<Tile, 3> const& tiles, F const& f) const {
    for (Tile const& t : tiles)
      if (auto const n = number(t); n >= 0) f(static_cast<std::size_t>(n));
  }

  Diamond diamond(Tile t) const noexcept {
    return {block(t.left), block(t.left - t.row), points_, reach_, periodic_, steps_};
  }
  // The point in the middle of the tile.
  std::int64_t middle(Tile t) const noexcept {
    auto const left = block(t.left), right = block(t.left - t.row);
    auto const z = (left.begin + left.end + right.begin + right.end) / 4;
    return periodic_ ? modulo(z, points_) : std::clamp<std::int64_t>(z, 0, points_ - 1);
  }

 private:
  // Blocks differ by one point at most; beyond the grid they go on as if it were periodic.
  Interval block(std::int64_t number) const noexcept {
    auto const turn = Diamond::floor(number, blocks_);
    auto const n = static_cast<std::size_t>(number - turn * blocks_);
    return {turn * points_ + cuts_[n], turn * points_ + cuts_[n + 1]};
  }
  std::int64_t first_step_of_row(std::int64_t row) const noexcept {
    auto first = diamond({row, row / 2}).steps().begin;
    for (std::int64_t b = 1; b < blocks_; ++b)
      first = std::min(first, diamond({row, row / 2 + b}).steps().begin);
    return first;
  }
  static std::int64_t modulo(std::int64_t a, std::int64_t b) noexcept {
    return a - Diamond::floor(a, b) * b;
  }

  std::int64_t points_, reach_, steps_, blocks_;
  bool periodic_;
  std::vector<std::int64_t> cuts_;  // where blocks begin, and where the last one ends
  std::int64_t rows_ = 0;
};

// [number]: how many tiles must be done before this one. nullopt: it has no points, so it is not
// run and no tile waits for it.
inline std::vector<std::optional<int>> predecessors(TimeTiles const& tiles) {
  std::vector<std::optional<int>> counts(tiles.numbers());
  for (std::size_t n = 0; n < counts.size(); ++n)
    if (!tiles.diamond(tiles.tile(n)).empty()) counts[n] = 0;
  for (std::size_t n = 0; n < counts.size(); ++n)
    if (counts[n])
      tiles.for_each(tiles.before(tiles.tile(n)),
                     [&](std::size_t below) { *counts[n] += counts[below].has_value(); });
  return counts;
}

// A worker has ended a tile, the first of which it took out of a queue so long ago, and finds a
// follower ready: does it run that at once? Short tiles cost less without the queue. Long ones keep
// to the queue's order, row by row: a worker that runs ahead leaves its neighbours less to share at
// the end.
constexpr bool runs_at_once(int its_queue, int worker_queue, std::int64_t since_taken_ns) noexcept {
  return its_queue == worker_queue && since_taken_ns < 10'000;
}
static_assert(runs_at_once(1, 1, 9'999));
static_assert(!runs_at_once(1, 1, 10'000) && !runs_at_once(0, 1, 0));

// TileHome: in which locality queue does a tile wait? In one of the domain where its middle lies: a
// domain's planes are dealt out to its queues in blocks, as planes are to domains.

// The index, among so many domains, of a plane, in blocks over them.
inline std::size_t block_of_plane(std::size_t plane, std::size_t planes,
                                  std::size_t domains) noexcept {
  return plane * domains / planes;
}

// The index of its queue among those of its domain.
inline std::size_t queue_of_plane(std::size_t plane, std::size_t planes, std::size_t domains,
                                  std::size_t queues) noexcept {
  return plane * domains * queues / planes % queues;
}

// The order in which a tile goes through the grid's second dimension: a wavefront of some rows a
// step, each step `reach` rows behind the one before, so that what a step has written is read while
// it is in the cache.
//
//   step 2   | 0 | 1 . 2   3        A piece of a step needs the pieces of the step before that are
//   step 1   |  0  | 1 . 2   3      below it and, by the reach, to either side: done, since they
//   are step 0   |   0   | 1 . 2   3    of this block or of one before.
//            rows ->
//
// Where the rows are a ring, only step 0 may begin at its seam: step s leaves s x reach rows out on
// either side of it, and when all else is done these follow, step by step.

// Calls f(step, row_begin, row_end), steps from 0.
template <class F>
void for_each_row_piece(std::size_t rows, std::size_t reach, bool ring, std::size_t at_a_time,
                        std::size_t steps, F const& f) {
  if (steps == 0) return;
  auto const ends_behind = (steps - 1) * reach;
  for (std::size_t block = 0; block < rows + ends_behind; block += at_a_time)
    for (std::size_t step = 0; step < steps; ++step) {
      auto const behind = step * reach;
      if (block + at_a_time <= behind) break;  // later steps have not begun either
      auto const left_out = ring ? behind : 0;
      if (rows <= 2 * left_out) break;
      auto const begin = std::max(block > behind ? block - behind : 0, left_out);
      auto const end = std::min(block + at_a_time - behind, rows - left_out);
      if (begin < end) f(step, begin, end);
    }
  if (!ring) return;
  for (std::size_t step = 1; step < steps; ++step) {
    auto const left_out = step * reach;
    if (rows <= 2 * left_out) {
      f(step, 0, rows);
    } else {
      f(step, rows - left_out, rows);
      f(step, 0, left_out);
    }
  }
}

}  // namespace nigh::policy
