// SPDX-License-Identifier: Apache-2.0
#pragma once
// TileSize: how large are a stencil's tiles (time_tiles.hpp), so that what one worker has in use at
// a time stays in its share of the caches?
//
// A tile goes through the grid's second dimension as a wavefront, some rows at a time, each step
// `reach` rows behind the one before. Of each of its `width` planes, the rows in use are as many as
// the wavefront is long there: all of its steps in the middle, none at its ends, and no more rows
// than there are.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace nigh::policy {

struct TileNeed {
  std::int64_t points = 0;  // in the dimension that is cut
  std::int64_t rows = 0;    // in the second one
  std::int64_t reach = 1;
  std::size_t row_bytes = 0;  // bytes of one row: all arrays, both copies
  int workers = 1;
};

struct TileSize {
  std::int64_t width = 0;  // points
  // rows of the second dimension that a step of the wavefront takes at a time
  std::int64_t rows = 0;

  bool operator==(TileSize const&) const = default;
};

// In double, which does not overflow for any sizes a program may ask for.
inline std::size_t window_bytes(TileNeed const& need, TileSize const& size) noexcept {
  constexpr double most = 0x1p63;
  auto const width = static_cast<double>(size.width), halo = 2 * static_cast<double>(need.reach);
  auto const planes = width + halo;
  auto const wave =
      std::floor(width * width / 2) + planes * (static_cast<double>(size.rows) + halo);
  auto const all =
      planes * (static_cast<double>(need.rows) + halo);  // small planes go through at once
  auto const bytes = std::min(wave, all) * static_cast<double>(need.row_bytes);
  return static_cast<std::size_t>(std::min(bytes, most));
}

// The bytes of a worker's caches that tiles may fill.
struct TileRoom {
  std::size_t safe = 0;  // harms no other worker
  std::size_t most = 0;  // at most, where wider tiles save much traffic
  std::size_t own = 0;   // of the worker's own cache, where wider tiles save little
};

// Most of a worker's own cache, or a quarter of that plus its part of the last one: all that others
// read passes through there. Measured on EPYCs with 1 MiB and 16 MiB for each worker: the same
// speed, or a little more, at a quarter as at a sixth; less at four tenths. Few processors have a
// larger part per core: a virtual machine that shows one most likely shares it with others, and is
// half as fast where tiles fill a quarter of it (260 MiB shown to two cores of a Xeon).
constexpr TileRoom room_for_tiles(std::size_t l2, std::size_t part_of_last) noexcept {
  constexpr std::size_t otherwise = std::size_t{1} << 20, most_of_last = std::size_t{16} << 20;
  auto const most_of_l2 = l2 / 4 * 3, last = std::min(part_of_last, most_of_last);
  TileRoom const room{std::max(most_of_l2, (l2 + last) / 4), most_of_l2 + last / 2, l2 / 8 * 7};
  return room.most > 0 ? room : TileRoom{otherwise, otherwise};
}

// The widest tiles that fit, since memory is read and written once for all steps of a tile. Up to
// `narrow` steps, width saves much: 4 bytes an update instead of 16 for a double in sweeps. Such
// tiles may fill more of the caches, and a row of tiles may have as few of them as there are
// workers; wider tiles are two for each worker. At least 2 x reach, whether that fits or not. Where
// `enough` steps fit in the worker's own cache, no more than that: on a Xeon with 2 MiB of L2, 12
// planes of 600 x 600 are 0.97 to 1.17 times as fast as 24 (docs/stencil.md), and leave the last
// cache to others.
inline TileSize choose_tile(TileNeed const& need, TileRoom const& room) noexcept {
  constexpr std::int64_t few_rows = 4, enough = 12, narrow = 16, most_width = 256;
  constexpr std::size_t piece_bytes = 8192;  // of a row, at least: its first bytes cost most
  auto const least = 2 * need.reach;
  auto const rows = std::max(
      few_rows, static_cast<std::int64_t>(piece_bytes / std::max<std::size_t>(need.row_bytes, 1)));
  TileSize size{least, std::min(rows, std::max<std::int64_t>(need.rows, 1))};
  auto const workers = std::max(need.workers, 1);
  bool const own_is_enough = window_bytes(need, {enough * need.reach, size.rows}) <= room.own;
  for (auto width = least; width <= std::min(need.points, most_width); width += least) {
    bool const is_narrow = width <= narrow * need.reach;
    auto const tiles = need.points / width;
    auto const bytes = window_bytes(need, {width, size.rows});
    if (own_is_enough && bytes > room.own) break;
    if (bytes <= (is_narrow ? room.most : room.safe) &&
        tiles >= (is_narrow ? workers : 2 * workers))
      size.width = width;
  }
  return size;
}

}  // namespace nigh::policy
