// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "policy/spread/nest_plan.hpp"
#include "policy/spread/spread_space.hpp"

namespace nigh::policy {
namespace {

using Parts = std::vector<NestPlan::Part>;
using V = std::vector<int>;

OrderedWorkers all_cpus_of(char const* description) {
  auto const machine = topology::from_synthetic(description).value();
  return {machine, machine.cpus()};
}

TEST(NestPlan, HasALeaderForEachTeam) {
  auto const ordered = all_cpus_of("pack:2 numa:1 core:4 pu:1");
  EXPECT_EQ(nest_plan(ordered, {1, 2, 8}, 0),
            (NestPlan{{0, 1, 2, 3, 4, 5, 6, 7}, {{0, 2, 2}, {2, 2, 2}, {4, 2, 2}, {6, 2, 2}}}));
  EXPECT_EQ(nest_plan(ordered, {1, 3, 8}, 0).parts,
            (Parts{{0, 2, 2}, {2, 2, 2}, {4, 2, 2}, {6, 2, 2}}));
  EXPECT_EQ(nest_plan(ordered, {1, 8, 8}, 0).parts, (Parts{{0, 8, 8}}));
  EXPECT_EQ(nest_plan(ordered, {1, 1, 8}, 0).parts.size(), 8U);
}

TEST(NestPlan, LeavesCpusOff) {
  auto const plan = nest_plan(all_cpus_of("pack:2 numa:1 core:4 pu:1"), {1, 2, 4}, 0);
  EXPECT_EQ(plan.workers, (V{0, 2, 4, 6}));
  EXPECT_EQ(plan.parts, (Parts{{0, 2, 2}, {2, 2, 2}}));
}

TEST(NestPlan, SharesTheCpusOutToANumberOfLeaders) {
  auto const ordered = all_cpus_of("pack:2 numa:1 core:4 pu:1");
  EXPECT_EQ(nest_plan(ordered, {1, 2, 8}, 3).parts, (Parts{{0, 2, 2}, {2, 2, 2}, {5, 2, 2}}));
  EXPECT_EQ(nest_plan(ordered, {1, 8, 8}, 3).parts, (Parts{{0, 2, 2}, {2, 3, 3}, {5, 3, 3}}));
  EXPECT_EQ(nest_plan(ordered, {1, 2, 8}, 9).parts, Parts(9, {0, 8, 1}));
}

TEST(NestPlan, LeavesMembersToChooseToANumberOfLeaders) {
  auto const space = spread_space(all_cpus_of("pack:2 numa:1 core:4 pu:1"), 8, true, {}, 1);
  EXPECT_EQ(spread_space_of(2, space).spreads, (V{1, 2, 4}));
  EXPECT_EQ(spread_space_of(3, space).spreads, (V{1, 2, 3}));
  EXPECT_EQ(spread_space_of(9, space).spreads, (V{1}));
  EXPECT_EQ(spread_space_of(2, space).actives, (V{8}));
}

}  // namespace
}  // namespace nigh::policy
