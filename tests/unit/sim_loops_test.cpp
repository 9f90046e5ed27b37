// SPDX-License-Identifier: Apache-2.0
// Loops that modelled threads run: every step once, by whom the product's schedule says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "machines.hpp"
#include "sim/loops/loop_run.hpp"

namespace nigh::sim {
namespace {

using ::testing::ElementsAre;

Team eight_threads() {
  static auto const machine = tests::machine("opteron-4x2");
  return Team(machine.shape, machine.shape.cpus());
}

// Which steps each thread ran, when threads take turns at random.
std::vector<std::vector<std::size_t>> run(LoopRun loop, int threads, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<std::size_t>> ran(static_cast<std::size_t>(threads));
  std::set<int> busy;
  for (int t = 0; t < threads; ++t) busy.insert(t);
  while (!busy.empty()) {
    int const t = *std::next(busy.begin(), random.below(static_cast<int>(busy.size())));
    if (auto const step = loop.next(t, random))
      ran[static_cast<std::size_t>(t)].push_back(*step);
    else
      busy.erase(t);
  }
  return ran;
}

TEST(LoopRun, RunsEachStepOnce) {
  auto const team = eight_threads();
  using enum schedule_kind;
  for (std::size_t const steps : {0u, 1u, 7u, 8u, 60u, 513u})
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      for (int k = 0; k < 6; ++k) {
        auto const loop = k == 5
                              ? LoopRun::split_by_thieves(3, steps, team)
                              : LoopRun(std::vector{static_blocks, static_chunks, dynamic, guided,
                                                    adaptive}[static_cast<std::size_t>(k)],
                                        1, steps, team);
        std::multiset<std::size_t> all;
        for (auto const& mine : run(loop, team.size(), seed)) all.insert(mine.begin(), mine.end());
        ASSERT_EQ(all.size(), steps) << k;
        ASSERT_EQ(std::set<std::size_t>(all.begin(), all.end()).size(), steps) << k;
      }
}

TEST(LoopRun, StaticSchedulesAreOpenMPs) {
  auto const team = eight_threads();
  auto const blocks = run(LoopRun(schedule_kind::static_blocks, 1, 60, team), 8, 1);
  EXPECT_EQ(blocks[0].size(), 8u);
  EXPECT_EQ(blocks[3].front(), 24u);
  EXPECT_EQ(blocks[4].size(), 7u);
  EXPECT_THAT(run(LoopRun(schedule_kind::static_chunks, 1, 20, team), 8, 1)[3],
              ElementsAre(3, 11, 19));
}

TEST(LoopRun, TheLateTakeHalfOfTheNearestsRest) {
  auto const team = eight_threads();
  LoopRun loop(schedule_kind::adaptive, 1, 80, team);
  Random random(1);
  std::vector<std::size_t> ran;
  for (int i = 0; i < 12; ++i) ran.push_back(*loop.next(0, random));
  EXPECT_EQ(ran[9], 9u);
  EXPECT_EQ(ran[10], 15u) << "the back half of thread 1's ten, in its domain";
}

TEST(LoopRun, ThievesSplitWhatOneThreadBeganWith) {
  auto const team = eight_threads();
  auto loop = LoopRun::split_by_thieves(2, 64, team);
  Random random(1);
  EXPECT_EQ(loop.next(0, random), 0u);
  EXPECT_EQ(loop.next(5, random), 33u) << "half of the 62 that are left";
  EXPECT_EQ(loop.next(0, random), 1u);
  EXPECT_EQ(loop.next(0, random), 2u);
}

TEST(LoopRun, TeamsKnowTheirHomes) {
  auto const machine = tests::machine("opteron-4x2");
  auto const team = Team(machine.shape, {6, 2, 3});
  EXPECT_THAT(team.cpus, ElementsAre(6, 2, 3));
  EXPECT_THAT(team.loop_workers().home_of, ElementsAre(1, 0, 0));
  EXPECT_THAT(team.loop_workers().workers_at, ElementsAre(2, 1));
}

}  // namespace
}  // namespace nigh::sim
