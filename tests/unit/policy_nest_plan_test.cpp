// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "policy/spread/nest_plan.hpp"
#include "policy/spread/spread_space.hpp"
#include "settings/cpu_order_text.hpp"
#include "settings/learnt_spreads.hpp"

namespace nigh::policy {
namespace {

using Parts = std::vector<NestPlan::Part>;
using V = std::vector<int>;

OrderedWorkers cpu_order_of(char const* description) {
  auto const machine = topology::from_synthetic(description).value();
  return {machine, machine.cpus()};
}
std::string text_of(char const* description) {
  auto const machine = topology::from_synthetic(description).value();
  return cpu_order_text(OrderedWorkers(machine, machine.cpus()), machine.cpus());
}

TEST(NestPlan, HasAMasterForEachTeam) {
  auto const ordered = cpu_order_of("pack:2 numa:1 core:4 pu:1");
  EXPECT_EQ(nest_plan(ordered, {1, 2, 8}, 0),
            (NestPlan{{0, 1, 2, 3, 4, 5, 6, 7}, {{0, 2, 2}, {2, 2, 2}, {4, 2, 2}, {6, 2, 2}}}));
  EXPECT_EQ(nest_plan(ordered, {1, 3, 8}, 0).parts,
            (Parts{{0, 2, 2}, {2, 2, 2}, {4, 2, 2}, {6, 2, 2}}));
  EXPECT_EQ(nest_plan(ordered, {1, 8, 8}, 0).parts, (Parts{{0, 8, 8}}));
  EXPECT_EQ(nest_plan(ordered, {1, 1, 8}, 0).parts.size(), 8U);
}

TEST(NestPlan, LeavesCpusOff) {
  auto const plan = nest_plan(cpu_order_of("pack:2 numa:1 core:4 pu:1"), {1, 2, 4}, 0);
  EXPECT_EQ(plan.workers, (V{0, 2, 4, 6}));
  EXPECT_EQ(plan.parts, (Parts{{0, 2, 2}, {2, 2, 2}}));
}

TEST(NestPlan, SharesTheCpusOutToANumberOfMasters) {
  auto const ordered = cpu_order_of("pack:2 numa:1 core:4 pu:1");
  EXPECT_EQ(nest_plan(ordered, {1, 2, 8}, 3).parts, (Parts{{0, 2, 2}, {2, 2, 2}, {5, 2, 2}}));
  EXPECT_EQ(nest_plan(ordered, {1, 8, 8}, 3).parts, (Parts{{0, 2, 2}, {2, 3, 3}, {5, 3, 3}}));
  EXPECT_EQ(nest_plan(ordered, {1, 2, 8}, 9).parts, Parts(9, {0, 8, 1}));
}

TEST(NestPlan, LeavesDronesToChooseToANumberOfMasters) {
  auto const space = spread_space(cpu_order_of("pack:2 numa:1 core:4 pu:1"), 8, true, {}, 1);
  EXPECT_EQ(spread_space_of(2, space).spreads, (V{1, 2, 4}));
  EXPECT_EQ(spread_space_of(3, space).spreads, (V{1, 2, 3}));
  EXPECT_EQ(spread_space_of(9, space).spreads, (V{1}));
  EXPECT_EQ(spread_space_of(2, space).actives, (V{8}));
}

TEST(CpuOrderText, SaysWhatNeighboursDoNotShare) {
  EXPECT_EQ(text_of("pack:2 numa:1 l3:1 core:2 pu:2"), "0+1.2+3@4+5.6+7");
  EXPECT_EQ(text_of("pack:1 numa:2 l3:2 l2:2 core:1 pu:1"), "0,1:2,3/4,5:6,7");
}

TEST(CpuOrderText, MakesTheSameTeams) {
  for (auto const* machine : {"pack:2 numa:2 l3:2 l2:1 core:3 pu:2", "pack:1 core:2 pu:1"}) {
    auto const read = parse_cpu_order(text_of(machine));
    ASSERT_TRUE(read) << machine;
    OrderedWorkers const ordered(read->entries), there = cpu_order_of(machine);
    EXPECT_EQ(ordered.cores(), there.cores());
    EXPECT_EQ(ordered.domains(), there.domains());
    for (int spread = 1; spread <= ordered.size(); ++spread)
      EXPECT_EQ(nest_plan(ordered, {1, spread, ordered.size()}, 0),
                nest_plan(there, {1, spread, ordered.size()}, 0))
          << machine << ' ' << spread;
  }
}

TEST(CpuOrderText, OfWhateverBytesIsNone) {
  for (auto const* text : {"", "x", "0,", ",0", "0 1", "0,-1", "0,1x", "0,99999999999"})
    EXPECT_FALSE(parse_cpu_order(text)) << text;
}

TEST(LearntSpreads, KeepOneOfEachNameAndNumberOfWorkers) {
  LearntSpreads lines{"m"};
  lines.put({"a", 2, {{1, 1, 2}, 0.5}});
  lines.put({"a", 4, {{1, 1, 4}, 0.5}});
  lines.put({"a", 2, {{1, 2, 2}, 0.25}});
  LearntSpreads read;
  EXPECT_EQ(parse_spreads(text_of(lines), "m", read), "");
  ASSERT_EQ(read.sites.size(), 2U);
  EXPECT_EQ(read.sites[1].found.held, (SpreadConfig{1, 2, 2}));
  EXPECT_EQ(read.sites[1].found.seconds, 0.25);
  LearntSpreads other;
  EXPECT_EQ(parse_spreads(text_of(lines), "n", other),
            "is for another machine, and not used: m, this one is n");
}

}  // namespace
}  // namespace nigh::policy
