// SPDX-License-Identifier: Apache-2.0
// Thieves go to near victims first: in which order they rob, and how far away, in counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "steal_sequence.hpp"

namespace {

using nigh::level;
using nigh_test::expect_near_first;
using nigh_test::Spree;
using nigh_test::steal_one_from_each;

class StealOrder : public testing::TestWithParam<std::string> {
 protected:
  nigh::runtime_options options(nigh::victim_choice victims) const {
    nigh::runtime_options o;
    o.machine = &machine;
    o.victims = victims;
    return o;
  }
  std::vector<int> thieves() const {
    int const n = static_cast<int>(machine.cpus().size());
    return {0, n / 3, n / 2, n - 1};
  }
  nigh::topology const machine = nigh::topology::from_synthetic(GetParam()).value();
};

TEST_P(StealOrder, HierarchicalRobsTheNearestFirst) {
  for (int thief : thieves())
    expect_near_first(steal_one_from_each(options(nigh::victim_choice::hierarchical), thief));
}

TEST_P(StealOrder, RingGoesAround) {
  int const n = static_cast<int>(machine.cpus().size());
  for (int thief : thieves()) {
    auto const spree = steal_one_from_each(options(nigh::victim_choice::ring), thief);
    for (std::size_t i = 0; i < spree.thefts.size(); ++i)
      ASSERT_EQ(spree.thefts[i].victim, (thief + 1 + static_cast<int>(i)) % n);
  }
}

// The same robbed at random is not sorted: the first victim is far, more often than not.
TEST_P(StealOrder, RandomPaysNoHeed) {
  int far_first = 0, all = 0;
  for (int thief = 0; thief < static_cast<int>(machine.cpus().size()); ++thief, ++all) {
    auto const spree = steal_one_from_each(options(nigh::victim_choice::random), thief);
    ASSERT_EQ(spree.thefts.size() + 1, machine.cpus().size());
    if (spree.thefts.front().level >= level::package) ++far_first;
  }
  EXPECT_GT(far_first, all / 4);
}

INSTANTIATE_TEST_SUITE_P(Machines, StealOrder,
                         testing::Values("pack:8 numa:1 core:4 pu:1",
                                         "pack:2 numa:2 l3:1 core:2 pu:2"),
                         [](auto const& machine) {
                           return machine.param.starts_with("pack:8") ? "EightByFour"
                                                                      : "FiveLevels";
                         });

// The counts of the 8 x 4 machine: 3 of 31 from within the domain, before all others.
TEST(StealOrderOnEightByFour, CountsByLevel) {
  auto const machine = nigh::topology::from_synthetic("pack:8 numa:1 core:4 pu:1").value();
  nigh::runtime_options options;
  options.machine = &machine;
  auto const spree = steal_one_from_each(options, 9);
  std::vector<std::uint64_t> expected(spree.of_thief.steals_at.size());
  expected[static_cast<std::size_t>(level::domain)] = 3;
  expected[static_cast<std::size_t>(level::host)] = 28;
  EXPECT_EQ(spree.of_thief.steals_at, expected);
  std::vector<int> first;
  for (std::size_t i = 0; i < 3; ++i) first.push_back(spree.thefts[i].victim);
  EXPECT_THAT(first, testing::UnorderedElementsAre(8, 10, 11));
}

}  // namespace
