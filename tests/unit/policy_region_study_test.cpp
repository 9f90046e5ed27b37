// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "policy/cpus/region_scaling.hpp"

namespace nigh::policy {
namespace {

using Teams = std::vector<TimedTeam>;

// Amdahl's, on every size up to `most`.
Teams amdahl(double serial, double parallel, int most) {
  Teams teams;
  for (int n = 1; n <= most; ++n) teams.push_back({n, serial + parallel / n});
  return teams;
}

TEST(RegionStudy, WhatScalesIsUsedToTheEnd) {
  EXPECT_EQ(demand_by_study(amdahl(0, 100, 8)), (ThreadDemand{8, 8}));
  EXPECT_EQ(demand_by_study(amdahl(1, 99, 32)), (ThreadDemand{31, 26}));
}

TEST(RegionStudy, ASerialPartMakesTheOptimumSmaller) {
  // A tenth is serial: 3 threads are 2.5 times as fast, 4 only 3.08 times.
  EXPECT_EQ(demand_by_study(amdahl(10, 90, 4)), (ThreadDemand{4, 3}));
}

TEST(RegionStudy, SmallGainsAddUp) {
  // 2 saves less than 3%, and 3 less than 3% again, but 3 more than that of 1.
  EXPECT_EQ(demand_by_study(Teams{{1, 100}, {2, 98}, {3, 96}}).maximum, 2);
  EXPECT_EQ(demand_by_study(Teams{{1, 100}, {2, 98}, {3, 97}}).maximum, 1);
}

TEST(RegionStudy, WhatGetsSlowerHasItsMaximumBefore) {
  EXPECT_EQ(demand_by_study(Teams{{1, 100}, {2, 60}, {3, 50}, {4, 52}, {8, 70}}),
            (ThreadDemand{3, 2}));
  EXPECT_EQ(demand_by_study(Teams{{1, 100}, {2, 130}, {4, 400}}), (ThreadDemand{1, 1}));
  EXPECT_EQ(demand_by_study(Teams{{1, 100}, {2, 98}, {4, 98}}), (ThreadDemand{1, 1}));
}

TEST(RegionStudy, ADentDoesNotEndIt) {
  EXPECT_EQ(demand_by_study(Teams{{1, 100}, {2, 52}, {3, 55}, {4, 27}}), (ThreadDemand{4, 4}));
}

TEST(RegionStudy, MoreThanIdealIsIdeal) {
  EXPECT_EQ(demand_by_study(Teams{{1, 100}, {2, 30}, {4, 10}}), (ThreadDemand{4, 4}));
}

TEST(RegionStudy, TakesTheSmallestTeamForIdeal) {
  EXPECT_EQ(demand_by_study(Teams{{4, 100}, {8, 55}, {16, 50}}), (ThreadDemand{16, 8}));
  EXPECT_EQ(demand_by_study(Teams{{4, 100}}), (ThreadDemand{4, 4}));
}

}  // namespace
}  // namespace nigh::policy
