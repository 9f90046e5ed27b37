// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "policy/cpus/team_waiting.hpp"

namespace nigh::policy {
namespace {

constexpr Crowd alone{
    .threads = 8, .granted = 8, .allowed = 8, .is_coordinated = true, .programs = 1};

TEST(TeamWaiting, ProgramsAloneAreNotCrowded) {
  EXPECT_FALSE(is_crowded(alone));
  auto many = alone;
  many.threads = 64;
  EXPECT_FALSE(is_crowded(many)) << "more threads than the process has cpus, as without nigh";
  auto preempted = alone;
  preempted.preemptions_per_s = 1000;
  EXPECT_FALSE(is_crowded(preempted)) << "by programs that know no coordinator";
}

TEST(TeamWaiting, TeamsOnFewerCpusThanThreadsAreCrowded) {
  auto folded = alone;
  folded.granted = 7;
  EXPECT_TRUE(is_crowded(folded));
  folded.threads = 7;
  EXPECT_FALSE(is_crowded(folded));
}

TEST(TeamWaiting, TeamsWithoutCpusAreCrowdedWhereOthersHaveThem) {
  auto unplaced = alone;
  unplaced.granted = 0;
  EXPECT_TRUE(is_crowded(unplaced));
  unplaced.is_coordinated = false;
  EXPECT_FALSE(is_crowded(unplaced));
}

TEST(TeamWaiting, PreemptionsCountBesideOthers) {
  auto c = alone;
  c.programs = 2;
  c.preemptions_per_s = WaitingPolicy{}.preemptions_per_s;
  EXPECT_FALSE(is_crowded(c));
  ++c.preemptions_per_s;
  EXPECT_TRUE(is_crowded(c));
}

TEST(TeamWaiting, OneThreadWaitsForNobody) {
  EXPECT_FALSE(is_crowded({.threads = 1, .granted = 0, .allowed = 8, .is_coordinated = true}));
}

TEST(TeamWaiting, CalmLastsForAWhile) {
  WaitingPolicy const policy{.calm_alone_ns = 100, .calm_beside_others_ns = 1000};
  TeamWaiting waiting(policy);
  EXPECT_EQ(waiting.next(false, 1, 1000), Waiting::quick);
  EXPECT_EQ(waiting.next(true, 1, 2000), Waiting::calm);
  EXPECT_EQ(waiting.next(false, 1, 2099), Waiting::calm);
  EXPECT_EQ(waiting.next(true, 1, 2099), Waiting::calm);
  EXPECT_EQ(waiting.next(false, 1, 2198), Waiting::calm);
  EXPECT_EQ(waiting.next(false, 2, 2199), Waiting::calm) << "longer beside others";
  EXPECT_EQ(waiting.next(false, 1, 2199), Waiting::quick);
  EXPECT_EQ(waiting.next(false, 2, 2300), Waiting::quick);
  EXPECT_EQ(waiting.next(true, 2, 3000), Waiting::calm);
  EXPECT_EQ(waiting.next(false, 2, 3999), Waiting::calm);
  EXPECT_EQ(waiting.next(false, 2, 4000), Waiting::quick);
}

}  // namespace
}  // namespace nigh::policy
