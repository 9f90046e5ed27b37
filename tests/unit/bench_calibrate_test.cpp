// SPDX-License-Identifier: Apache-2.0
// The description of a machine that nigh sim calibrate writes before it measures anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/calibrate/measure.hpp"

namespace bench {
namespace {

using nigh::level;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

nigh::topology machine(char const* synthetic) {
  return nigh::topology::from_synthetic(synthetic).value();
}

TEST(StealLevels, AreThoseWhoseGroupsHoldMoreThanTheOnesInside) {
  using Levels = std::vector<StealLevel>;
  EXPECT_EQ(
      steal_levels(machine("pack:2 numa:1 l3:1 l2:4 core:1 pu:1")),
      (Levels{{level::l3, {level::domain, level::package}, 4, 0, 3}, {level::host, {}, 8, 0, 7}}));
  EXPECT_EQ(steal_levels(machine("pack:2 numa:2 l3:2 l2:1 core:3 pu:2")),
            (Levels{{level::core, {}, 2, 0, 1},
                    {level::l2, {level::l3}, 6, 0, 5},
                    {level::domain, {}, 12, 0, 11},
                    {level::package, {}, 24, 0, 23},
                    {level::host, {}, 48, 0, 47}}));
  EXPECT_EQ(
      steal_levels(machine("core:2 pu:1")),
      (Levels{{level::l2, {level::l3, level::domain, level::package, level::host}, 2, 0, 1}}));
}

TEST(StealLevels, OfOneCpuThereAreNone) {
  EXPECT_THAT(steal_levels(machine("pack:1 core:1 pu:1")), IsEmpty());
}

TEST(StealLevels, LeaveOutThoseWhoseGroupsDiffer) {
  auto const whole = machine("pack:2 numa:1 core:4 pu:1");
  std::vector<int> const five{0, 1, 2, 3, 4};
  auto const levels = steal_levels(whole.restricted_to(five).value());
  ASSERT_EQ(levels.size(), 1u);
  EXPECT_EQ(levels[0].level, level::host);
  EXPECT_EQ(levels[0].cpus, 5);
}

TEST(Synthetic, SaysWhatItWasReadFrom) {
  std::string const text = "pack:2 numa:1 l3:1(size=8388608) l2:4(size=262144) core:1 pu:2";
  EXPECT_EQ(synthetic_of(machine(text.c_str())), text);
}

TEST(Synthetic, SaysNothingOfWhatIsNotRegular) {
  std::vector<int> const five{0, 1, 2, 3, 4};
  EXPECT_EQ(synthetic_of(machine("pack:2 numa:1 core:4 pu:1").restricted_to(five).value()), "");
}

}  // namespace
}  // namespace bench
