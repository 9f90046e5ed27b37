// SPDX-License-Identifier: Apache-2.0
#include "settings/cpu_order_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "policy/spread/nest_plan.hpp"

namespace nigh::settings {
namespace {

policy::OrderedWorkers cpu_order_of(char const* description) {
  auto const machine = topology::from_synthetic(description).value();
  return {machine, machine.cpus()};
}
std::string text_of(char const* description) {
  auto const machine = topology::from_synthetic(description).value();
  return cpu_order_text(policy::OrderedWorkers(machine, machine.cpus()), machine.cpus());
}

TEST(CpuOrderText, SaysWhatNeighboursDoNotShare) {
  EXPECT_EQ(text_of("pack:2 numa:1 l3:1 core:2 pu:2"), "0+1.2+3@4+5.6+7");
  EXPECT_EQ(text_of("pack:1 numa:2 l3:2 l2:2 core:1 pu:1"), "0,1:2,3/4,5:6,7");
}

TEST(CpuOrderText, MakesTheSameTeams) {
  for (auto const* machine : {"pack:2 numa:2 l3:2 l2:1 core:3 pu:2", "pack:1 core:2 pu:1"}) {
    auto const read = parse_cpu_order(text_of(machine));
    ASSERT_TRUE(read) << machine;
    policy::OrderedWorkers const ordered(read->entries), there = cpu_order_of(machine);
    EXPECT_EQ(ordered.cores(), there.cores());
    EXPECT_EQ(ordered.domains(), there.domains());
    for (int spread = 1; spread <= ordered.size(); ++spread)
      EXPECT_EQ(policy::nest_plan(ordered, {1, spread, ordered.size()}, 0),
                policy::nest_plan(there, {1, spread, ordered.size()}, 0))
          << machine << ' ' << spread;
  }
}

TEST(CpuOrderText, OfWhateverBytesIsNone) {
  for (auto const* text : {"", "x", "0,", ",0", "0 1", "0,-1", "0,1x", "0,99999999999"})
    EXPECT_FALSE(parse_cpu_order(text)) << text;
}

}  // namespace
}  // namespace nigh::settings
