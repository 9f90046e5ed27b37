// SPDX-License-Identifier: Apache-2.0
// Diamonds: each point of each step lies in one tile, and whoever runs tiles in any order that
// before() allows reads what was written last.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "policy/tiles/tile_size.hpp"
#include "policy/tiles/time_tiles.hpp"

namespace {

using nigh::policy::Tile;
using nigh::policy::TimeTiles;

struct Case {
  std::int64_t points, reach;
  bool periodic;
  std::int64_t width, steps;
};

std::string text(Case const& c) {
  return std::to_string(c.points) + " points, reach " + std::to_string(c.reach) +
         (c.periodic ? ", periodic" : "") + ", width " + std::to_string(c.width) + ", steps " +
         std::to_string(c.steps);
}

// The step that each of two copies of a grid holds, at each point.
class TwoSteps {
 public:
  explicit TwoSteps(Case const& c) : c_(c) {
    for (auto& copy : holds_) copy.assign(static_cast<std::size_t>(c.points), 0);
  }
  void write(std::int64_t step, std::int64_t point) {
    for (auto z = point - c_.reach; z <= point + c_.reach; ++z) {
      if (!c_.periodic && (z < 0 || z >= c_.points)) continue;
      ASSERT_EQ(at(step - 1, z), step - 1) << text(c_) << ": point " << point << " reads " << z;
    }
    ASSERT_EQ(at(step, point), std::max<std::int64_t>(step - 2, 0)) << text(c_);
    at(step, point) = step;
  }
  bool is_done() const {
    auto const& last = holds_[static_cast<std::size_t>(c_.steps % 2)];
    return std::all_of(last.begin(), last.end(), [&](auto s) { return s == c_.steps; });
  }

 private:
  std::int64_t& at(std::int64_t step, std::int64_t z) {
    auto const there = static_cast<std::size_t>((z + 2 * c_.points) % c_.points);
    return holds_[static_cast<std::size_t>(step % 2)][there];
  }
  Case c_;
  std::vector<std::int64_t> holds_[2];
};

void run_in_random_order(Case const& c, std::mt19937& random) {
  TimeTiles const tiles(c.points, c.reach, c.periodic, c.width, c.steps);
  TwoSteps grid(c);
  auto waits = nigh::policy::predecessors(tiles);
  std::vector<Tile> ready;
  std::size_t run = 0, all = 0;
  for (std::size_t n = 0; n < tiles.numbers(); ++n) {
    Tile const t = tiles.tile(n);
    ASSERT_EQ(tiles.number(t), static_cast<std::int64_t>(n)) << text(c);
    ASSERT_EQ(waits[n].has_value(), !tiles.diamond(t).empty()) << text(c);
    all += waits[n].has_value();
    if (waits[n] == 0) ready.push_back(t);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    Tile const t = ready.back();
    ready.pop_back();
    ++run;
    auto const diamond = tiles.diamond(t);
    auto const steps = diamond.steps();
    for (auto s = steps.begin; s < steps.end; ++s) {
      auto const points = diamond.points(s);
      for (auto z = points.begin; z < points.end; ++z) {
        grid.write(s, (z + 2 * c.points) % c.points);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    tiles.for_each(tiles.behind(t), [&](std::size_t n) {
      if (waits[n] && --*waits[n] == 0) ready.push_back(tiles.tile(n));
    });
  }
  ASSERT_EQ(run, all) << text(c);
  ASSERT_TRUE(grid.is_done()) << text(c);
}

TEST(TimeTiles, AnyOrderThatTheirCountersAllowGivesEachPointItsNeighbours) {
  std::mt19937 random(5);
  for (int n = 0; n < 3000; ++n) {
    Case c;
    c.reach = 1 + static_cast<std::int64_t>(random() % 3);
    c.width = 2 * c.reach + static_cast<std::int64_t>(random() % 12);
    c.points = c.width + static_cast<std::int64_t>(random() % 60);
    c.periodic = random() % 2 == 0;
    c.steps = 1 + static_cast<std::int64_t>(random() % 30);
    run_in_random_order(c, random);
    if (HasFatalFailure()) return;
  }
}

// Two blocks: their feet, what is left of, between and right of these, and one tile above each foot.
TEST(TimeTiles, PredecessorsAreThoseThatHavePoints) {
  using Counts = std::vector<std::optional<int>>;
  constexpr auto none = std::nullopt;
  EXPECT_EQ(nigh::policy::predecessors(TimeTiles(8, 1, false, 4, 3)),
            (Counts{none, 0, 0, none, none,  //
                    none, 1, 2, 1, none,     //
                    none, 3, 3, none, none}));
  EXPECT_EQ(nigh::policy::predecessors(TimeTiles(8, 1, true, 4, 3)), (Counts{0, 0, 2, 2, 3, 3}));
}

// For a reach of one, as many steps as points, less one that falls on the corners.
TEST(TimeTiles, ATileHoldsItsWidthOfSteps) {
  TimeTiles const tiles(160, 1, false, 16, 100);
  EXPECT_EQ(tiles.blocks(), 10);
  Tile const inner{3, 5};
  auto const diamond = tiles.diamond(inner);
  auto const steps = diamond.steps();
  EXPECT_EQ(steps.end - steps.begin, 15);
  std::int64_t widest = 0, points = 0;
  for (auto s = steps.begin; s < steps.end; ++s) {
    auto const here = diamond.points(s);
    widest = std::max(widest, here.end - here.begin);
    points += here.end - here.begin;
  }
  EXPECT_EQ(widest, 16);
  EXPECT_EQ(points, 16 * 16 / 2);
}

using nigh::policy::choose_tile;
using nigh::policy::TileNeed;
using nigh::policy::TileRoom;
using nigh::policy::TileSize;
using nigh::policy::room_for_tiles;
using nigh::policy::window_bytes;

TileNeed cube_of_600() {
  return {.points = 600, .rows = 600, .reach = 1, .row_bytes = 600 * 16, .workers = 2};
}

constexpr TileRoom room_of(std::size_t kib) { return {kib << 10, kib << 10}; }
constexpr TileRoom endless{std::size_t{1} << 30, std::size_t{1} << 30};

TEST(TileSize, WhatIsInUseAtATimeFitsTheCache) {
  for (std::size_t kib = 256; kib <= 16384; kib *= 4) {
    auto const size = choose_tile(cube_of_600(), room_of(kib));
    EXPECT_LE(window_bytes(cube_of_600(), size), kib << 10) << kib;
    EXPECT_GE(size.width, 2) << kib;
  }
}

TEST(TileSize, LargerCachesHoldMoreSteps) {
  std::int64_t before = 0;
  for (std::size_t kib = 64; kib <= 1 << 20; kib *= 2) {
    auto const width = choose_tile(cube_of_600(), room_of(kib)).width;
    EXPECT_GE(width, before) << kib;
    before = width;
  }
}

// Measured with 1 MiB of L2 and 16 MiB of L3 for each worker: 16 to 32 planes are within a tenth of each
// other, those in the middle first, and less or more of them slower.
TEST(TileSize, IsInTheMiddleOfThoseThatWereFast) {
  auto const width =
      choose_tile(cube_of_600(), room_for_tiles(std::size_t{1} << 20, std::size_t{16} << 20)).width;
  EXPECT_GE(width, 20);
  EXPECT_LE(width, 28);
}

// Measured with 2 MiB of L2 and 260 MiB of L3 shown to two cores: wider ones are hardly faster in any
// run, and narrower ones slower.
TEST(TileSize, IsWhatFitsTheWorkersOwnCacheWhereThatIsEnough) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  auto const room = room_for_tiles(2 * mib, 130 * mib);
  auto const size = choose_tile(cube_of_600(), room);
  EXPECT_EQ(size.width, 12);
  EXPECT_LE(window_bytes(cube_of_600(), size), room.own);
  EXPECT_LT(room.own, 2 * mib);
}

// Simulated (nigh sim temporal): with 1 MiB and 1.6 MiB for each of 48, tiles that fill three
// quarters of the L2 are half as fast as those that fill the L3, too.
TEST(TileSize, NarrowTilesMayFillHalfOfASharedCache) {
  auto need = cube_of_600();
  need.points = 2304;
  need.workers = 48;
  auto const size =
      choose_tile(need, room_for_tiles(std::size_t{1} << 20, (std::size_t{19} << 20) / 12));
  EXPECT_EQ(size.width, 12);
  EXPECT_EQ(choose_tile(need, {0, std::size_t{1} << 40}).width, 16);  // wide ones may not
}

TEST(TileSize, EachWorkerHasATileInEveryRowOfThemAndTwoIfTheyAreWide) {
  auto need = cube_of_600();
  need.workers = 8;
  EXPECT_EQ(choose_tile(need, endless).width, 36);
  need.workers = 50;
  EXPECT_EQ(choose_tile(need, endless).width, 12);
  need.workers = 1000;  // more than there can be tiles for: as many as there can
  EXPECT_EQ(choose_tile(need, endless).width, 2);
}

TEST(TileSize, SmallPlanesAreInUseAsAWhole) {
  auto need = cube_of_600();
  need.rows = 10;
  EXPECT_EQ(window_bytes(need, {64, 4}), 66u * 12 * need.row_bytes);
}

// In two dimensions a row is a point.
TEST(TileSize, ShortRowsAreTakenManyAtATime) {
  auto need = cube_of_600();
  EXPECT_EQ(choose_tile(need, room_of(1024)).rows, 4);
  need.row_bytes = 16;
  EXPECT_EQ(choose_tile(need, room_of(1024)).rows, 512);
  need.rows = 100;
  EXPECT_EQ(choose_tile(need, room_of(1024)).rows, 100);
}

TEST(TileSize, AWidthIsAMultipleOfWhatItsEndsReach) {
  auto need = cube_of_600();
  need.reach = 3;
  for (std::size_t kib = 64; kib <= 1 << 16; kib *= 2)
    EXPECT_EQ(choose_tile(need, room_of(kib)).width % 6, 0) << kib;
}

}  // namespace
