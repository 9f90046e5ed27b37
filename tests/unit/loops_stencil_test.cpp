// SPDX-License-Identifier: Apache-2.0
// Stencils in tiles of points and steps, held to one sweep after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nigh/runtime.hpp>
#include <nigh/stencil.hpp>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "policy/tiles/time_tiles.hpp"
#include "synthetic.hpp"

namespace {

using nigh::tests::synthetic;
using nigh::boundary;
using nigh::box;
using nigh::stencil;
using nigh::stencil_options;
using ::testing::HasSubstr;

// Values that tell where from each neighbour at each step: a wrong or late read shows in all that
// comes of it. Indices wrap where the grid does; beyond a fixed end lies 7.
class Hashes {
 public:
  Hashes(nigh::stencil_shape<3> const& shape) : s_(shape) {
    for (auto& copy : copies_) copy.resize(s_.points[0] * s_.points[1] * s_.points[2]);
    for (std::size_t i = 0; i < copies_[0].size(); ++i) copies_[0][i] = i * 0x9e3779b97f4a7c15u;
  }
  void update(std::size_t step, box<3> const& b) {
    auto& now = copies_[step % 2];
    for (auto k = b.begin[0]; k < b.end[0]; ++k)
      for (auto j = b.begin[1]; j < b.end[1]; ++j)
        for (auto i = b.begin[2]; i < b.end[2]; ++i) {
          std::uint64_t sum = step;
          auto const r = static_cast<long>(s_.reach);
          for (long d = -r; d <= r; ++d) {
            sum = sum * 31 + before(step, {k, j, i}, 0, d);
            sum = sum * 31 + before(step, {k, j, i}, 1, d);
            sum = sum * 31 + before(step, {k, j, i}, 2, d);
          }
          now[at({k, j, i})] = sum;
        }
  }
  std::vector<std::uint64_t> const& values(std::size_t step) const { return copies_[step % 2]; }
  std::size_t at(std::array<std::size_t, 3> const& p) const {
    return (p[0] * s_.points[1] + p[1]) * s_.points[2] + p[2];
  }

 private:
  std::uint64_t before(std::size_t step, std::array<std::size_t, 3> p, std::size_t d, long by) {
    auto const n = static_cast<long>(s_.points[d]);
    auto z = static_cast<long>(p[d]) + by;
    if (z < 0 || z >= n) {
      if (s_.boundaries[d] == boundary::fixed) return 7;
      z = ((z % n) + n) % n;
    }
    p[d] = static_cast<std::size_t>(z);
    return copies_[1 - step % 2][at(p)];
  }
  nigh::stencil_shape<3> s_;
  std::array<std::vector<std::uint64_t>, 2> copies_;
};

std::string text(nigh::stencil_shape<3> const& s, stencil_options const& o, std::size_t steps) {
  std::string t = "width " + std::to_string(o.tile_width) + " rows " + std::to_string(o.tile_rows) +
                  " reach " + std::to_string(s.reach) + " steps " + std::to_string(steps);
  for (std::size_t d = 0; d < 3; ++d)
    t += " | " + std::to_string(s.points[d]) +
         (s.boundaries[d] == boundary::periodic ? " ring" : "");
  return t;
}

void expect_as_sweeps(nigh::stencil_shape<3> const& shape, stencil_options const& options,
                      std::size_t steps) {
  Hashes in_tiles(shape), swept(shape);
  stencil<3> s(shape, options);
  ASSERT_TRUE(s.plan().in_tiles) << text(shape, options, steps);
  s.run(steps, [&](std::size_t step, box<3> const& b) { in_tiles.update(step, b); });
  EXPECT_EQ(s.steps_done(), steps);
  for (std::size_t step = 1; step <= steps; ++step) swept.update(step, {{0, 0, 0}, shape.points});
  ASSERT_EQ(in_tiles.values(steps), swept.values(steps)) << text(shape, options, steps);
}

TEST(Stencil, IsWhatSweepsAre) {
  auto const m = synthetic("pack:2 numa:1 l3:2 core:2 pu:1");
  nigh::runtime rt({.machine = &m, .queue_level = nigh::level::l3});
  std::mt19937 random(3);
  auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (int n = 0; n < 150; ++n) {
    nigh::stencil_shape<3> shape;
    stencil_options options;
    options.where = &rt;
    shape.reach = 1 + below(2);
    options.tile_width = 2 * shape.reach + below(8);
    options.tile_rows = 1 + below(5);
    shape.points = {options.tile_width + below(30), 1 + below(20), 1 + below(5)};
    for (auto& b : shape.boundaries) b = below(2) == 0 ? boundary::fixed : boundary::periodic;
    expect_as_sweeps(shape, options, 1 + below(25));
    if (HasFatalFailure()) return;
  }
}

TEST(Stencil, RunsOfMoreStepsThanAreCutAtATimeGoOn) {
  nigh::stencil_shape<3> const shape{.points = {6, 2, 1}};
  expect_as_sweeps(shape, {.tile_width = 3}, 9000);
}

TEST(Stencil, RunsGoOnWhereTheLastEnded) {
  nigh::stencil_shape<3> const shape{.points = {20, 7, 3}};
  Hashes in_tiles(shape), swept(shape);
  stencil<3> s(shape, {.tile_width = 4});
  auto const update = [&](std::size_t step, box<3> const& b) { in_tiles.update(step, b); };
  for (std::size_t steps : {3u, 0u, 1u, 10u}) s.run(steps, update);
  EXPECT_EQ(s.steps_done(), 14u);
  for (std::size_t step = 1; step <= 14; ++step) swept.update(step, {{0, 0, 0}, shape.points});
  EXPECT_EQ(in_tiles.values(14), swept.values(14));
}

TEST(Stencil, OfTwoDimensionsCutsBoth) {
  std::array<std::vector<double>, 2> u{std::vector<double>(64 * 50, 1),
                                       std::vector<double>(64 * 50)};
  u[0][100] = 5;
  auto v = u;
  auto const update = [](auto& grid, std::size_t step, box<2> const& b) {
    auto& now = grid[step % 2];
    auto const& before = grid[1 - step % 2];
    auto const value = [&](std::size_t j, std::size_t i) {
      return j < 64 && i < 50 ? before[j * 50 + i] : 0;
    };
    for (auto j = b.begin[0]; j < b.end[0]; ++j)
      for (auto i = b.begin[1]; i < b.end[1]; ++i)
        now[j * 50 + i] = 0.2 * (value(j, i) + value(j - 1, i) + value(j + 1, i) + value(j, i - 1) +
                                 value(j, i + 1));
  };
  std::atomic<int> parts{0};
  stencil<2> s({.points = {64, 50}}, {.tile_width = 8, .tile_rows = 10});
  s.run(30, [&](std::size_t step, box<2> const& b) {
    parts += b.size(1) < 50;
    update(u, step, b);
  });
  for (std::size_t step = 1; step <= 30; ++step) update(v, step, {{0, 0}, {64, 50}});
  EXPECT_EQ(u[0], v[0]);
  EXPECT_GT(parts, 0);
}

TEST(Stencil, StopsWhenTheNormSaysSo) {
  nigh::stencil_shape<3> const shape{.points = {24, 9, 2}};
  for (bool const plain : {false, true}) {
    std::vector<int> steps_at(shape.points[0] * shape.points[1], 0);
    stencil<3> s(shape, {.tile_width = 6, .plain_sweeps = plain});
    std::vector<double> sums;
    bool const stopped = s.run_until(
        100, 8,
        [&](std::size_t step, box<3> const& b) {
          for (auto k = b.begin[0]; k < b.end[0]; ++k)
            for (auto j = b.begin[1]; j < b.end[1]; ++j)
              steps_at[k * shape.points[1] + j] = static_cast<int>(step);
        },
        [&](std::size_t step, box<3> const& b) {
          return static_cast<double>(b.size(0) * b.size(1) * b.size(2) * step);
        },
        [&](std::size_t step, double sum) {
          EXPECT_EQ(sum, 24 * 9 * 2 * static_cast<double>(step));
          sums.push_back(sum);
          return step == 24;
        });
    EXPECT_TRUE(stopped);
    EXPECT_EQ(s.steps_done(), 24u);
    EXPECT_EQ(sums.size(), 3u);
    for (int const step : steps_at) ASSERT_EQ(step, 24);
    EXPECT_FALSE(s.run_until(
        10, 8, [](std::size_t, box<3> const&) {}, [](std::size_t, box<3> const&) { return 0.0; },
        [](std::size_t, double) { return false; }));
    EXPECT_EQ(s.steps_done(), 34u);
  }
}

// Each piece of a call as little behind the one before it as it may be, all along the last
// dimension.
TEST(Stencil, PiecesMayGoTogetherAlongTheLastDimension) {
  constexpr std::size_t steps = 14;
  for (std::size_t reach = 1; reach <= 2; ++reach)
    for (auto const other : {boundary::fixed, boundary::periodic}) {
      nigh::stencil_shape<3> const shape{
          .points = {20, 23, 9}, .reach = reach, .boundaries = {other, other, boundary::fixed}};
      Hashes together(shape), swept(shape);
      std::atomic<std::size_t> most = 0;
      auto const update = [&](std::span<nigh::stencil_piece<3> const> pieces) {
        auto const last = shape.points[2] + reach * (pieces.size() - 1);
        for (std::size_t at = 0; at < last; ++at)
          for (std::size_t n = 0; n < pieces.size(); ++n) {
            auto const behind = reach * n;
            if (at < behind || at - behind >= shape.points[2]) continue;
            auto points = pieces[n].points;
            points.begin[2] = at - behind;
            points.end[2] = points.begin[2] + 1;
            together.update(pieces[n].step, points);
          }
        for (auto before = most.load(); before < pieces.size();)
          if (most.compare_exchange_weak(before, pieces.size())) break;
      };
      stencil<3> s(shape, {.tile_width = 8, .tile_rows = 3});
      s.run(steps, update);
      EXPECT_GE(most, 8 / reach - 1);  // of one tile with all of its steps
      stencil<3> sweeps(shape, {.plain_sweeps = true});
      sweeps.run(steps, [&](std::size_t step, box<3> const& b) { swept.update(step, b); });
      EXPECT_EQ(together.values(steps), swept.values(steps)) << reach;
    }
}

// Added up in the same order, whoever computed what.
TEST(Stencil, NormsAreTheSameEachTime) {
  nigh::stencil_shape<3> const shape{.points = {40, 10, 3}};
  auto const norm = [&] {
    double last = 0;
    stencil<3> s(shape, {.tile_width = 6});
    s.run_until(
        12, 12, [](std::size_t, box<3> const&) { std::this_thread::yield(); },
        [](std::size_t, box<3> const& b) {
          return std::sin(static_cast<double>(b.begin[0] * 100 + b.begin[1]));
        },
        [&](std::size_t, double sum) {
          last = sum;
          return false;
        });
    return last;
  };
  double const first = norm();
  EXPECT_NE(first, 0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(norm(), first);
}

// Tiles that take a moment are queued once in a while, those that take longer each.
TEST(Stencil, ShortTilesFollowEachOtherWithoutTheQueue) {
  auto const queued = [](std::chrono::microseconds a_box) {
    nigh::runtime rt({.workers = 1});
    stencil<2> s({.points = {64, 1}}, {.tile_width = 8, .where = &rt});
    s.run(32, [&](std::size_t, box<2> const&) {
      auto const end = std::chrono::steady_clock::now() + a_box;
      while (std::chrono::steady_clock::now() < end) continue;
    });
    rt.wait();
    return rt.counters()[0].run + rt.guest_counters().run;
  };
  auto const tiles = nigh::policy::predecessors(nigh::policy::TimeTiles(64, 1, false, 8, 32));
  auto const all = static_cast<std::uint64_t>(
      std::count_if(tiles.begin(), tiles.end(), [](auto const& n) { return n.has_value(); }));
  EXPECT_EQ(queued(std::chrono::microseconds(20)), all);
  auto least = all;  // others may hold it up for long
  for (int n = 0; n < 20; ++n) least = std::min(least, queued(std::chrono::microseconds(0)));
  EXPECT_LT(least, all);
}

TEST(Stencil, AnExceptionEndsTheRun) {
  for (bool const plain : {false, true}) {
    stencil<3> s({.points = {60, 10, 1}}, {.tile_width = 4, .plain_sweeps = plain});
    try {
      s.run(20, [](std::size_t step, box<3> const& b) {
        if (step == 7 && b.begin[0] <= 30 && b.end[0] > 30) throw std::runtime_error("at 30");
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (std::runtime_error const& e) {
      EXPECT_STREQ(e.what(), "at 30");
    }
    EXPECT_EQ(s.steps_done(), 0u);
  }
}

// A worker in the middle of a tile with more pieces than a call holds ends without another call.
TEST(Stencil, ATileThatHasBegunIsLeftWhenAnotherThrows) {
  nigh::runtime rt({.workers = 2});
  stencil<3> s({.points = {64, 200, 1}}, {.tile_width = 8, .tile_rows = 1, .where = &rt});
  std::atomic<int> calls = 0;
  std::atomic<bool> thrown = false;
  EXPECT_THROW(s.run(8,
                     [&](std::span<nigh::stencil_piece<3> const>) {
                       if (calls++ == 0) {  // one waits until the other has thrown
                         while (!thrown) std::this_thread::yield();
                         std::this_thread::sleep_for(std::chrono::milliseconds(50));
                       } else {
                         thrown = true;
                         throw std::runtime_error("in another tile");
                       }
                     }),
               std::runtime_error);
}

TEST(Stencil, PiecesOfADeepTileComeInSeveralCalls) {
  constexpr std::size_t steps = 100;
  nigh::stencil_shape<3> const shape{.points = {200, 50, 2}};
  Hashes in_pieces(shape), swept(shape);
  std::atomic<std::size_t> full = 0;
  stencil<3> s(shape, {.tile_width = 80});
  s.run(steps, [&](std::span<nigh::stencil_piece<3> const> pieces) {
    full += pieces.size() == 32;
    for (auto const& p : pieces) in_pieces.update(p.step, p.points);
  });
  EXPECT_GT(full, 0u);
  stencil<3> sweeps(shape, {.plain_sweeps = true});
  sweeps.run(steps, [&](std::span<nigh::stencil_piece<3> const> pieces) {
    EXPECT_EQ(pieces.size(), 1u);
    for (auto const& p : pieces) swept.update(p.step, p.points);
  });
  EXPECT_EQ(in_pieces.values(steps), swept.values(steps));
}

TEST(Stencil, OneBoxAtATimeIsTheSameEachTime) {
  using Boxes = std::vector<std::array<std::size_t, 3>>;
  auto const boxes_of = [](bool plain, char const* loops) {
    nigh::runtime rt({.workers = 2, .loops = nigh::parse_schedule(loops).value()});
    Boxes boxes;
    stencil<2> s({.points = {40, 9}},
                 {.tile_width = 4, .plain_sweeps = plain, .one_at_a_time = true, .where = &rt});
    double sum = 0;
    s.run_until(
        8, 8,
        [&](std::size_t step, box<2> const& b) { boxes.push_back({step, b.begin[0], b.begin[1]}); },
        [](std::size_t, box<2> const& b) { return static_cast<double>(b.size(0) * b.size(1)); },
        [&](std::size_t, double all) {
          sum = all;
          return true;
        });
    EXPECT_EQ(sum, 40 * 9);
    return boxes;
  };
  for (bool const plain : {false, true}) {
    auto const first = boxes_of(plain, "adaptive");
    if (plain) {
      EXPECT_EQ(first.size(), 8 * 40u);
    }
    for (char const* loops : {"adaptive", "static", "static,3", "dynamic", "guided", "local"})
      EXPECT_EQ(boxes_of(plain, loops), first) << loops;
  }
  expect_as_sweeps({.points = {40, 9, 2}}, {.tile_width = 4, .one_at_a_time = true}, 20);
}

TEST(Stencil, RunsInATask) {
  nigh::runtime rt({.workers = 1});
  rt.run([] { expect_as_sweeps({.points = {30, 5, 2}}, {.tile_width = 4}, 12); });
}

TEST(Stencil, AGridSmallerThanATileIsSweptAndSaysSo) {
  nigh::stencil_shape<3> const shape{.points = {5, 5, 5}};
  Hashes with(shape), without(shape);
  stencil<3> s(shape, {.tile_width = 6});
  EXPECT_FALSE(s.plan().in_tiles);
  EXPECT_THAT(s.plan().note, HasSubstr("5 points are less than a tile of 6"));
  s.run(4, [&](std::size_t step, box<3> const& b) { with.update(step, b); });
  for (std::size_t step = 1; step <= 4; ++step) without.update(step, {{0, 0, 0}, shape.points});
  EXPECT_EQ(with.values(4), without.values(4));
  EXPECT_FALSE(stencil<3>({.points = {1, 5, 5}}).plan().in_tiles);
}

TEST(Stencil, AGridSmallerThanATileIsToldWhereAsked) {
  auto const said = [](stencil_options const& options) {
    testing::internal::CaptureStderr();
    stencil<2> const s({.points = {5, 5}}, options);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said({.tile_width = 6}), "");
  setenv("NIGH_VERBOSE", "1", 1);
  EXPECT_EQ(said({.tile_width = 6}),
            "nigh: stencil: 5 points are less than a tile of 6: plain sweeps\n");
  EXPECT_EQ(said({.tile_width = 6, .plain_sweeps = true}), "");
  EXPECT_EQ(said({.tile_width = 4}), "");
  setenv("NIGH_VERBOSE", "0", 1);
  EXPECT_EQ(said({.tile_width = 6}), "");
  unsetenv("NIGH_VERBOSE");
}

TEST(Stencil, TilesOfMoreStepsThanWereAskedForAreToldWhereAsked) {
  auto const said = [](stencil_options const& options, std::size_t reach = 1) {
    testing::internal::CaptureStderr();
    stencil<2> const s({.points = {50, 50}, .reach = reach}, options);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said({.tile_width = 8, .tile_steps = 5}), "");
  setenv("NIGH_VERBOSE", "1", 1);
  EXPECT_EQ(said({.tile_width = 8, .tile_steps = 5}),
            "nigh: stencil: tiles 8 wide have 8 steps, 5 were asked for\n");
  EXPECT_EQ(said({.tile_steps = 1}, 3),
            "nigh: stencil: tiles 6 wide have 2 steps, 1 were asked for\n");
  EXPECT_EQ(said({.tile_width = 8, .tile_steps = 8}), "");
  EXPECT_EQ(said({.tile_steps = 5}, 3), "");
  EXPECT_EQ(said({.tile_width = 8}), "");
  EXPECT_EQ(said({.tile_width = 8, .tile_steps = 5, .plain_sweeps = true}), "");
  unsetenv("NIGH_VERBOSE");
}

TEST(Stencil, WhatCannotBeIsRefused) {
  auto const why = [](nigh::stencil_shape<3> const& shape, stencil_options const& o) {
    try {
      stencil<3> s(shape, o);
    } catch (std::invalid_argument const& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  nigh::stencil_shape<3> const cube{.points = {50, 50, 50}};
  EXPECT_THAT(why(cube, {.tile_width = 1}),
              HasSubstr("tile_width: 1 is less than twice the reach"));
  EXPECT_THAT(why({.points = {50, 50, 50}, .reach = 9}, {.tile_width = 16}),
              HasSubstr("less than twice the reach, 18"));
  EXPECT_THAT(why(cube, {.tile_width = 8, .tile_steps = 16}),
              HasSubstr("tile_steps: a tile 8 wide has 8 steps, not 16"));
  EXPECT_THAT(why({.points = {50, 0, 50}}, {}), HasSubstr("points: there are none"));
  EXPECT_THAT(why({.points = {50, 50, 0}}, {}), HasSubstr("points: there are none"));
  EXPECT_THAT(why({.points = {50, 50, 50}, .reach = 0}, {}), HasSubstr("reach: 0"));
  EXPECT_THAT(why({.points = {50, 50, 50}, .data = &cube}, {}), HasSubstr("plane_bytes: 0"));
}

TEST(Stencil, WhatIsTooMuchToCountIsRefused) {
  auto const refused = [](nigh::stencil_shape<3> const& shape, stencil_options const& o) {
    try {
      stencil<3> s(shape, o);
    } catch (std::invalid_argument const& e) {
      std::string const what = e.what();
      return what.substr(15, what.find(':', 15) - 15);
    }
    return std::string("nothing");
  };
  nigh::stencil_shape<3> const cube{.points = {50, 50, 50}, .reach = 4};
  std::size_t const all = ~std::size_t{0};
  for (std::size_t const n : {all, std::size_t{1} << 62, (std::size_t{1} << 40) + 1}) {
    EXPECT_EQ(refused(cube, {.tile_width = n}), "tile_width");
    EXPECT_EQ(refused(cube, {.tile_steps = n}), "tile_steps");
    EXPECT_EQ(refused(cube, {.tile_rows = n}), "tile_rows");
    for (std::size_t d = 0; d < 3; ++d) {
      auto large = cube;
      large.points[d] = n;
      EXPECT_EQ(refused(large, {}), "points");
    }
    EXPECT_EQ(refused({.points = cube.points, .reach = n}, {}), "reach");
    EXPECT_EQ(refused({.points = cube.points, .point_bytes = n}, {}), "point_bytes");
  }
  std::size_t const most = std::size_t{1} << 40;
  EXPECT_EQ(refused({.points = {50, 50, most}, .point_bytes = most}, {}), "point_bytes");
  // Allowed grids are swept, and have a size.
  stencil<3> const s({.points = {50, 50, 50}, .reach = most}, {.tile_rows = most});
  EXPECT_FALSE(s.plan().in_tiles);
  EXPECT_GT(s.plan().window_bytes, most);
}

TEST(Wavefront, GoesThroughAllRowsOfAllSteps) {
  for (std::size_t rows = 1; rows < 14; ++rows)
    for (std::size_t at_a_time = 1; at_a_time < 6; ++at_a_time)
      for (std::size_t steps = 0; steps < 9; ++steps)
        for (bool const ring : {false, true}) {
          std::vector<std::size_t> done(rows, 0);
          nigh::policy::for_each_row_piece(
              rows, 2, ring, at_a_time, steps,
              [&](std::size_t step, std::size_t begin, std::size_t end) {
                for (auto r = begin; r < end; ++r) ASSERT_EQ(done[r]++, step);
              });
          for (auto const d : done) ASSERT_EQ(d, steps);
        }
}

}  // namespace
