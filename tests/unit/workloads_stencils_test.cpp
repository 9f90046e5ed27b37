// SPDX-License-Identifier: Apache-2.0
// Tiles of time steps give what sweeps give, for every stencil there is.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "stencils/run.hpp"

namespace {

class Stencils : public testing::TestWithParam<stencils::Problem> {};

TEST_P(Stencils, GiveTheSameBitsInTilesAndInSweeps) {
  auto const& problem = GetParam();
  std::size_t const side = problem.dimensions == 2 ? 60 : 22;
  auto const swept = problem.solve(side, 17, {.plain_sweeps = true});
  EXPECT_FALSE(swept.plan.in_tiles);
  for (std::size_t const width : {2u, 5u, 8u, 20u}) {
    auto const tiled = problem.solve(side, 17, {.tile_width = width, .tile_rows = 3});
    EXPECT_TRUE(tiled.plan.in_tiles);
    EXPECT_EQ(tiled.bits, swept.bits) << width;
  }
  auto const further = problem.solve(side, 18, {.plain_sweeps = true});
  EXPECT_NE(further.bits, swept.bits) << "a step changes something";
}

TEST_P(Stencils, WriteInTheirBoxesOnly) {
  auto const checked = GetParam().solve(12, 5, {.tile_width = 5, .checked = true});
  EXPECT_TRUE(checked.plan.checked);
  EXPECT_EQ(checked.bits, GetParam().solve(12, 5, {.plain_sweeps = true}).bits);
}

TEST_P(Stencils, KeepWhatTheyConserve) {
  auto const done = GetParam().solve(16, 40, {.tile_width = 4});
  EXPECT_NEAR(done.conserved, done.expected, done.most_off * std::abs(done.expected));
}

INSTANTIATE_TEST_SUITE_P(All, Stencils,
                         testing::ValuesIn(stencils::problems().begin(),
                                           stencils::problems().end()),
                         [](auto const& tested) { return std::string(tested.param.name); });

}  // namespace
