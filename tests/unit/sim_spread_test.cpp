// SPDX-License-Identifier: Apache-2.0
// Spread on the modelled Bridges and Summit: what is published, and what must not show it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "machines.hpp"
#include "sim/spread/core_caches.hpp"
#include "sim/spread/study.hpp"

namespace nigh::sim {
namespace {

TEST(Reuse, AllFitsOrLinesOutliveMisses) {
  EXPECT_EQ(kept_share(1, 1), 1);
  EXPECT_EQ(kept_share(1, 0), 0);
  double before = 1;
  for (double ratio = 1.01; ratio < 8; ratio *= 1.1) {
    double const kept = kept_share(ratio, 1);
    EXPECT_NEAR(kept, std::exp(-(1 - kept) * ratio), 1e-9);
    EXPECT_LT(kept, before);
    before = kept;
  }
  EXPECT_NEAR(kept_share(2, 1), 0.2032, 1e-4);
}

TEST(CoreCaches, AreTheLastOnesOfEachCore) {
  auto const bridges = CoreCaches::of(tests::machine("bridges-2x14").shape);
  ASSERT_EQ(bridges.bytes.size(), 2u);
  EXPECT_NEAR(bridges.bytes[0], 35e6, 2e6);
  EXPECT_EQ(bridges.cache_of[1].size(), 14u);
  EXPECT_EQ(bridges.cache_of[1].front(), 1);
  auto const summit = CoreCaches::of(tests::machine("summit-2x22").shape);
  EXPECT_EQ(summit.bytes.size(), 22u);
  EXPECT_EQ(summit.cache_of[0][0], summit.cache_of[0][1]);
  EXPECT_NE(summit.cache_of[0][1], summit.cache_of[0][2]);
  auto const none = CoreCaches::of(tests::machine("opteron-4x2").shape);
  EXPECT_TRUE(none.bytes.empty());
  EXPECT_EQ(none.cache_of[3][1], -1);
}

// Fewer blocks and iterations than the experiment's: a test is quick.
SpreadStudy small(bool has_cache = true) {
  SpreadStudy study;
  study.loop.grid = 16;
  study.loop.iterations = 2;
  study.loop.has_cache = has_cache;
  study.choices = 20;
  return study;
}

class SpreadOn : public ::testing::TestWithParam<char const*> {};

TEST_P(SpreadOn, BestIsBetweenTheEndsAndGainsAsPublished) {
  auto const machine = tests::machine(GetParam());
  double most = 0;
  SpreadRow best;
  for (int edge : {512, 724, 1024, 1448, 2048}) {
    auto study = small();
    study.loop.grid = BlockLoop{}.grid;  // with fewer blocks, teams wait for the last ones
    auto const row = study_block_size(machine, study, edge);
    if (row.gain() > most) best = row;
    most = std::max(most, row.gain());
    EXPECT_GE(row.choice.near_best, row.choice.runs - 1) << edge;
    EXPECT_EQ(row.choice.worse_than_usual, 0) << edge;
    EXPECT_LE(row.choice.most_trials, 20) << edge;
  }
  EXPECT_GE(most, 0.20);
  EXPECT_LE(most, 0.30);
  EXPECT_GT(best.best().config.spread, 1);
  EXPECT_LT(best.best().config.spread, best.cells[best.all_workers - 1].config.spread);
}

TEST_P(SpreadOn, WithoutCachesNothingIsGained) {
  auto const machine = tests::machine(GetParam());
  for (int edge : {724, 1448}) {
    auto study = small(false);
    study.choices = 0;
    EXPECT_LE(study_block_size(machine, study, edge).gain(), 0.03) << edge;
  }
}

TEST_P(SpreadOn, BlocksThatFitNoCacheGainLittle) {
  auto study = small();
  study.choices = 0;
  EXPECT_LE(study_block_size(tests::machine(GetParam()), study, 7452).gain(), 0.03);
}

TEST_P(SpreadOn, SameSeedSameTimes) {
  auto const machine = tests::machine(GetParam());
  BlockLoop loop;
  loop.grid = 8;
  loop.spread = 2;
  auto const time = [&](std::uint64_t seed) {
    return simulate_blocks(machine, loop, seed).iteration_s;
  };
  EXPECT_EQ(time(1), time(1));
  EXPECT_NE(time(1), time(2));
}

INSTANTIATE_TEST_SUITE_P(Machines, SpreadOn, ::testing::Values("bridges-2x14", "summit-2x22"),
                         [](auto const& of) {
                           return std::string(of.param).substr(0, std::string(of.param).find('-'));
                         });

// Bandwidth alone: what the loop moves, at what the controllers carry.
TEST(BlockLoop, TakesWhatItsBytesTake) {
  auto const machine = tests::machine("bridges-2x14");
  BlockLoop loop;
  loop.edge = 4096;
  loop.has_cache = false;
  loop.sends = false;
  auto const times = simulate_blocks(machine, loop, 1);
  double const bytes = 24.0 * 24 * 4096 * 4096 * 32;
  EXPECT_NEAR(times.iteration_s, bytes / (8 * 55e9), 0.03 * times.iteration_s);
  EXPECT_EQ(times.teams, 28);
}

TEST(BlockLoop, BordersThatMustArriveTakeTime) {
  auto const machine = tests::machine("bridges-2x14");
  BlockLoop loop;
  loop.grid = 8;
  loop.edge = 64;
  double const with = simulate_blocks(machine, loop, 1).iteration_s;
  loop.sends = false;
  EXPECT_GT(with, simulate_blocks(machine, loop, 1).iteration_s + 8e-6);
}

}  // namespace
}  // namespace nigh::sim
