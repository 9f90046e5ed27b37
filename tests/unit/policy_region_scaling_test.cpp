// SPDX-License-Identifier: Apache-2.0
// What is learnt of a region from the durations of its runs.
#include <gtest/gtest.h>

#include <random>

#include "policy/region_scaling.hpp"

namespace nigh::policy {
namespace {

// Serial part, in percent of one thread's time.
std::int64_t duration(int threads, int serial_percent) {
  return 10'000 * serial_percent + 10'000 * (100 - serial_percent) / threads;
}
void run(RegionScaling& region, int times, int threads, std::int64_t duration_ns) {
  for (int i = 0; i < times; ++i) region.observe(threads, duration_ns);
}

TEST(RegionScaling, KnowsNothingFromOneSizeOrOneRun) {
  RegionScaling region;
  EXPECT_FALSE(region.demand(32));
  run(region, 100, 8, 1000);
  EXPECT_FALSE(region.demand(32));
  run(region, 2, 4, 2000);
  EXPECT_FALSE(region.demand(32));
  run(region, 1, 4, 2000);
  EXPECT_TRUE(region.demand(32));
}

TEST(RegionScaling, FindsTheOptimumOfAmdahlsLaw) {
  for (int serial : {1, 2, 5, 10, 20}) {
    RegionScaling region;
    run(region, 3, 2, duration(2, serial));
    run(region, 3, 6, duration(6, serial));
    auto const demand = region.demand(64);
    ASSERT_TRUE(demand);
    auto const efficiency = [&](int n) {
      return static_cast<double>(duration(1, serial)) / n /
             static_cast<double>(duration(n, serial));
    };
    EXPECT_GE(efficiency(demand->optimal), 0.795) << serial;
    EXPECT_LE(efficiency(demand->optimal + 2), 0.8) << serial;
    EXPECT_GE(demand->maximum, demand->optimal);
  }
}

TEST(RegionScaling, TellsHowWellATeamIsUsed) {
  RegionScaling region;
  run(region, 3, 2, duration(2, 10));
  EXPECT_FALSE(region.efficiency(4));
  run(region, 3, 4, duration(4, 10));
  EXPECT_NEAR(*region.efficiency(1), 1, 0.001);
  EXPECT_NEAR(*region.efficiency(11), 0.5, 0.001);
  RegionScaling flat;
  run(flat, 3, 2, 1000);
  run(flat, 3, 4, 1000);
  EXPECT_EQ(flat.efficiency(1), 1.0);
  EXPECT_EQ(flat.efficiency(8), 0.25);
}

TEST(RegionScaling, TakesAllWhereItScales) {
  RegionScaling region;
  run(region, 3, 1, 1000);
  run(region, 3, 8, 125);
  EXPECT_EQ(region.demand(64), (ThreadDemand{64, 64}));
}

TEST(RegionScaling, StopsWhereMoreThreadsAreSlower) {
  RegionScaling region;
  run(region, 3, 1, 1000);
  run(region, 3, 4, 260);
  run(region, 3, 16, 400);
  EXPECT_LE(region.demand(64)->maximum, 4);
  RegionScaling tiny;  // that no team helps
  run(tiny, 3, 2, 1000);
  run(tiny, 3, 8, 1100);
  EXPECT_EQ(tiny.demand(64), (ThreadDemand{2, 2}));
}

TEST(RegionScaling, DisturbedRunsChangeNothing) {
  RegionScaling region, calm;
  for (auto* r : {&region, &calm}) {
    run(*r, 5, 1, 1000);
    run(*r, 5, 4, 270);
  }
  region.observe(1, 50'000);
  region.observe(4, 90'000);
  region.observe(4, 1);
  EXPECT_EQ(region.demand(32), calm.demand(32));
}

TEST(RegionScaling, IsInOrderWhateverItSees) {
  unsigned const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    RegionScaling region;
    for (int i = 0; i < 200; ++i) {
      region.observe(1 + static_cast<int>(random() % 20),
                     1 + static_cast<std::int64_t>(random() >> (1 + random() % 63)));
      int const most = 1 + static_cast<int>(random() % 1024);
      if (auto const d = region.demand(most)) {
        ASSERT_LE(1, d->optimal);
        ASSERT_LE(d->optimal, d->maximum);
        ASSERT_LE(d->maximum, most);
      }
    }
  }
}

}  // namespace
}  // namespace nigh::policy
