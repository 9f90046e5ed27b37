// SPDX-License-Identifier: Apache-2.0
// Grids in two copies, with ghosts that follow; updates that write where they must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <limits>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/time_grid.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nigh::boundary;
using nigh::box;
using nigh::time_grid;
using ::testing::HasSubstr;

using Point = std::array<std::ptrdiff_t, 3>;

double initial(std::ptrdiff_t k, std::ptrdiff_t j, std::ptrdiff_t i) {
  return static_cast<double>((k * 131 + j * 17 + i * 7) % 101) / 101;
}

// All 27 neighbours, corners too, each with a weight of its own.
struct Blur {
  template <class Now, class Before>
  void operator()(std::size_t, Now const& now, Before const& before, box<3> const& b) const {
    for (auto k = static_cast<std::ptrdiff_t>(b.begin[0]);
         k < static_cast<std::ptrdiff_t>(b.end[0]); ++k)
      for (auto j = static_cast<std::ptrdiff_t>(b.begin[1]);
           j < static_cast<std::ptrdiff_t>(b.end[1]); ++j)
        for (auto i = static_cast<std::ptrdiff_t>(b.begin[2]);
             i < static_cast<std::ptrdiff_t>(b.end[2]); ++i)
          now(k, j, i) = sum([&](auto a, auto c, auto e) { return before(k + a, j + c, i + e); });
  }
  template <class Value>
  static double sum(Value const& value) {
    double s = 0, weight = 1. / 40;
    for (std::ptrdiff_t a = -1; a <= 1; ++a)
      for (std::ptrdiff_t c = -1; c <= 1; ++c)
        for (std::ptrdiff_t e = -1; e <= 1; ++e) s += (weight += 1. / 1000) * value(a, c, e);
    return s;
  }
};

// The same without tiles, ghosts or views.
std::vector<double> swept(std::array<std::size_t, 3> const& points,
                          std::array<boundary, 3> const& ends, std::size_t steps) {
  Point n;
  for (std::size_t d = 0; d < 3; ++d) n[d] = static_cast<std::ptrdiff_t>(points[d]);
  std::vector<double> before, now;
  auto const value = [&](Point p) {
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d) {
      if (ends[d] == boundary::periodic) p[d] = (p[d] + n[d]) % n[d];
      inside = inside && p[d] >= 0 && p[d] < n[d];
    }
    return inside ? before[static_cast<std::size_t>((p[0] * n[1] + p[1]) * n[2] + p[2])]
                  : initial(p[0], p[1], p[2]);
  };
  for (std::size_t s = 0; s <= steps; ++s) {
    now.clear();
    for (std::ptrdiff_t k = 0; k < n[0]; ++k)
      for (std::ptrdiff_t j = 0; j < n[1]; ++j)
        for (std::ptrdiff_t i = 0; i < n[2]; ++i)
          now.push_back(s == 0 ? initial(k, j, i) : Blur::sum([&](auto a, auto c, auto e) {
            return value({k + a, j + c, i + e});
          }));
    std::swap(now, before);
  }
  return before;
}

TEST(TimeGrid, GhostsFollowTheOtherEnd) {
  std::mt19937 random(11);
  for (int n = 0; n < 40; ++n) {
    nigh::time_grid_options<3> options;
    for (auto& b : options.boundaries) b = random() % 2 == 0 ? boundary::fixed : boundary::periodic;
    options.tiles.tile_width = 2 + random() % 5;
    options.tiles.tile_rows = 1 + random() % 4;
    options.checked = random() % 4 == 0;
    std::array<std::size_t, 3> const points{options.tiles.tile_width + random() % 9,
                                            1 + random() % 9, 1 + random() % 6};
    time_grid<double, 3> grid(points, options);
    ASSERT_TRUE(grid.plan().in_tiles);
    grid.fill(initial);
    std::size_t const steps = 1 + random() % 9;
    grid.run(steps, Blur{});
    std::vector<double> values;
    for (std::size_t k = 0; k < points[0]; ++k)
      for (std::size_t j = 0; j < points[1]; ++j)
        for (std::size_t i = 0; i < points[2]; ++i) values.push_back(grid.values()(k, j, i));
    ASSERT_EQ(values, swept(points, options.boundaries, steps)) << n;
  }
}

TEST(TimeGrid, StopsWhenItHasConverged) {
  time_grid<double, 2> grid({40, 40}, {.tiles = {.tile_width = 8}});
  grid.fill([](auto j, auto) { return j < 0 ? 1.0 : 0.0; });
  auto const heat = [](std::size_t, auto const& now, auto const& before, box<2> const& b) {
    for (auto j = b.begin[0]; j < b.end[0]; ++j)
      for (auto i = b.begin[1]; i < b.end[1]; ++i) {
        auto const y = static_cast<std::ptrdiff_t>(j), x = static_cast<std::ptrdiff_t>(i);
        now(y, x) =
            0.25 * (before(y - 1, x) + before(y + 1, x) + before(y, x - 1) + before(y, x + 1));
      }
  };
  auto const change = [](auto const& now, auto const& before, box<2> const& b) {
    double sum = 0;
    for (auto j = b.begin[0]; j < b.end[0]; ++j)
      for (auto i = b.begin[1]; i < b.end[1]; ++i) {
        double const d = now(j, i) - before(j, i);
        sum += d * d;
      }
    return sum;
  };
  EXPECT_TRUE(grid.run_until(100'000, 50, heat, change,
                             [](std::size_t, double sum) { return sum < 1e-10; }));
  EXPECT_EQ(grid.steps_done() % 50, 0u);
  EXPECT_LT(grid.steps_done(), 10'000u);
  EXPECT_GT(grid.values()(0, 20), grid.values()(20, 20));
  EXPECT_GT(grid.values()(20, 20), grid.values()(39, 20));
}

std::string complaint(bool checked, std::size_t plane, std::ptrdiff_t shift) {
  time_grid<double, 3> grid({20, 10, 5}, {.tiles = {.tile_width = 4}, .checked = checked});
  grid.fill([](auto...) { return 0.0; });
  try {
    grid.run(5, [&](std::size_t step, auto const& now, auto const&, box<3> const& b) {
      if (step == 3 && b.begin[0] == plane && b.begin[1] == 0)
        now(static_cast<std::ptrdiff_t>(b.end[0]) - 1 + shift, 0, 0) = 1;
    });
  } catch (std::logic_error const& e) {
    return e.what();
  }
  return "nothing";
}

TEST(TimeGrid, AWriteOutsideOfTheBoxIsCaughtWhereAsked) {
  std::string said;
  for (std::size_t plane = 0; plane < 20 && said.empty(); ++plane)
    if (auto const what = complaint(true, plane, 1); what != "nothing") said = what;
  EXPECT_THAT(said, HasSubstr("the update of step 3 wrote point ("));
  EXPECT_THAT(said, HasSubstr("outside of its box from ("));
  for (std::size_t plane = 0; plane < 20; ++plane) EXPECT_EQ(complaint(true, plane, 0), "nothing");

  setenv("NIGH_CHECK_WRITES", "1", 1);
  bool caught = false;
  for (std::size_t plane = 0; plane < 20; ++plane)
    caught |= complaint(false, plane, 1) != "nothing";
  EXPECT_TRUE(caught);
  unsetenv("NIGH_CHECK_WRITES");
}

TEST(TimeGrid, AWriteFarFromTheBoxIsCaughtInSmallGrids) {
  time_grid<double, 2> grid({100, 50}, {.tiles = {.tile_width = 4}, .checked = true});
  grid.fill([](auto...) { return 0.0; });
  EXPECT_THROW(grid.run(4,
                        [](std::size_t, auto const& now, auto const&, box<2> const& b) {
                          if (b.begin[0] > 60) now(2, 2) += 1;
                        }),
               std::logic_error);
}

TEST(TimeGrid, WhatIsNotANumberHasNotBeenWritten) {
  time_grid<double, 2> grid({30, 20}, {.tiles = {.tile_width = 4}, .checked = true});
  auto const none = std::numeric_limits<double>::quiet_NaN();
  grid.fill([&](auto j, auto) { return j < 0 ? none : 1.0; });
  auto const write = [&](double value, std::size_t plane_behind) {
    grid.run(4, [&](std::size_t, auto const& now, auto const&, box<2> const& b) {
      now(b.begin[0], b.begin[1]) = 2;
      if (b.end[0] < 30) now(b.end[0] - 1 + plane_behind, b.begin[1]) = value;
    });
  };
  EXPECT_NO_THROW(write(2, 0));
  EXPECT_THROW(write(none, 1), std::logic_error);
}

// A thread that waits in an update runs other tasks meanwhile, but no box of the grid that is
// looked at.
TEST(TimeGrid, AnUpdateThatWaitsCanBeChecked) {
  nigh::runtime rt({.workers = 2});
  for (bool const plain : {false, true}) {
    nigh::stencil_options const tiles{.tile_width = 4, .plain_sweeps = plain, .where = &rt};
    time_grid<double, 2> grid({60, 12}, {.tiles = tiles, .checked = true});
    grid.fill([](auto...) { return 0.0; });
    std::atomic<int> under_way{0};
    bool alone = true;
    grid.run(12, [&](std::size_t step, auto const& now, auto const&, box<2> const& b) {
      alone = alone && ++under_way == 1;
      nigh::parallel_for(b.begin[0], b.end[0], [&](std::size_t j) {
        for (auto i = b.begin[1]; i < b.end[1]; ++i) now(j, i) = static_cast<double>(step);
      });
      nigh::stencil<2>({.points = {8, 4}}, {.tile_width = 2})
          .run(3, [](std::size_t, box<2> const&) {});
      --under_way;
    });
    EXPECT_TRUE(alone);
    EXPECT_EQ(grid.values()(59, 11), 12);
  }
}

TEST(TimeGrid, WhatCannotBeIsRefused) {
  EXPECT_THROW((time_grid<double, 2>({2, 50}, {.reach = 3, .boundaries = {boundary::periodic}})),
               std::invalid_argument);
  EXPECT_THROW((time_grid<double, 2>({50, 50}, {.tiles = {.tile_width = 1}})),
               std::invalid_argument);
  EXPECT_THROW((time_grid<double, 3>({50, 0, 50})), std::invalid_argument);
  EXPECT_THROW((time_grid<double, 3>({50, 50, 0})), std::invalid_argument);
  for (int const bits : {62, 63})  // their ghosts have no size
    EXPECT_THROW((time_grid<double, 2>({5, 5}, {.reach = std::size_t{1} << bits})),
                 std::length_error);
  std::size_t const huge = std::size_t{1} << 39;
  EXPECT_THROW((time_grid<double, 3>({huge, huge, 5})), std::length_error);
  EXPECT_THROW((time_grid<double, 2>({huge, 64})), std::bad_alloc);
}

}  // namespace
