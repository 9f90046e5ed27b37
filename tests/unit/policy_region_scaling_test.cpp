// SPDX-License-Identifier: Apache-2.0
// The lessons about a region from the durations of its runs.
#include <gtest/gtest.h>

#include <random>

#include "policy/cpus/region_probe.hpp"
#include "policy/cpus/region_scaling.hpp"

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

// Within noise the larger team may look slower.
TEST(RegionScaling, NeverUsesATeamWorseThanNotAtAll) {
  RegionScaling region;
  for (auto const& [threads, median] : {std::pair{4, 625}, {8, 813}})
    for (int percent : {90, 100, 110, 90, 100, 110}) region.observe(threads, 1000 * median * percent / 100);
  ASSERT_TRUE(region.efficiency(2));
  EXPECT_GT(*region.efficiency(2), 0);
  EXPECT_LE(*region.efficiency(2), 1);
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

TEST(RegionScaling, ConcludesNothingFromDifferencesWithinNoise) {
  RegionScaling sleeps;
  for (int threads : {1, 2}) run(sleeps, 5, threads, threads == 1 ? 1'000'000'000 : 1'004'000'000);
  EXPECT_FALSE(sleeps.demand(2));
  EXPECT_TRUE(sleeps.is_indifferent());
  // For any number of threads, with noise of any size.
  std::mt19937_64 random(3);
  for (double noise : {0.001, 0.01, 0.05, 0.2}) {
    int concluded = 0;
    std::uniform_real_distribution<double> disturbed(1 - noise, 1 + noise);
    for (int round = 0; round < 1000; ++round) {
      RegionScaling region;
      for (int threads : {1, 2, 4, 8})
        for (int i = 0; i < 5; ++i)
          region.observe(threads, static_cast<std::int64_t>(1e7 * disturbed(random)));
      concluded += region.demand(8).has_value() ? 1 : 0;
    }
    EXPECT_LE(concluded, noise < 0.02 ? 0 : 80) << noise;
  }
}

TEST(RegionScaling, SeesDifferencesBeyondNoise) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> disturbed(0.95, 1.05);
  for (int round = 0; round < 1000; ++round) {
    RegionScaling region;
    for (int threads : {1, 2, 4})
      for (int i = 0; i < 5; ++i)
        region.observe(threads,
                       static_cast<std::int64_t>(1e7 / std::min(threads, 2) * disturbed(random)));
    auto const demand = region.demand(4);
    ASSERT_TRUE(demand);
    ASSERT_GE(demand->maximum, 2);
  }
}

TEST(RegionScaling, PrefersTheLargerTeamWhereItIsNotClear) {
  RegionScaling region;
  run(region, 5, 1, 1000);
  for (std::int64_t d : {480, 500, 520, 540, 560}) region.observe(2, d);
  for (std::int64_t d : {440, 460, 480, 500, 520}) region.observe(4, d);
  EXPECT_EQ(region.demand(4)->maximum, 4);
}

TEST(RegionScaling, WhatIsSeenOnASharedHostSetsNoMaximum) {
  RegionScaling region;
  for (int i = 0; i < 5; ++i) region.observe(1, 1000, true), region.observe(8, 5000, true);
  ASSERT_TRUE(region.demand(8));
  EXPECT_EQ(region.demand(8)->maximum, 8);
  EXPECT_EQ(region.demand(8)->optimal, 1);
  EXPECT_FALSE(region.is_known());
  run(region, 3, 8, 300);  // when it is quiet
  EXPECT_EQ(region.known().find(8)->time.median, 300);
  EXPECT_FALSE(region.known().find(8)->is_doubtful);
  run(region, 3, 1, 1000);
  for (int i = 0; i < 5; ++i) region.observe(8, 440, true);  // busy again
  EXPECT_EQ(region.known().find(8)->time.median, 300);
}

// A larger input, while others use the host.
TEST(RegionScaling, ForgetsACertainMaximumWhenTheRegionIsAnotherOne) {
  RegionScaling region;
  run(region, 6, 1, 1000);
  run(region, 6, 8, 1500);
  EXPECT_EQ(region.demand(8)->maximum, 1);
  region.observe(1, 50'000, true);
  region.observe(1, 50'000, true);
  region.observe(1, 1000, true);
  EXPECT_EQ(region.demand(8)->maximum, 1);
  for (int i = 0; i < 3; ++i) region.observe(1, 50'000, true);
  EXPECT_FALSE(region.demand(8));
}

TEST(RegionScaling, RecallsMedianAndSpread) {
  for (std::uint64_t runs : {1U, 2U, 3U, 4U, 5U, 1000U}) {
    RegionScaling region;
    region.recall(4, 1000, runs, 100);
    auto const known = region.known(true);
    ASSERT_EQ(known.count, 1U);
    EXPECT_EQ(known.begin()->time.median, 1000) << runs;
    EXPECT_NEAR(known.begin()->time.spread, runs < 3 ? 0 : 0.1, 1e-9) << runs;
  }
  RegionScaling odd;
  odd.recall(4, INT64_MAX, 5, INT64_MAX);
  odd.recall(8, 1, 5, INT64_MAX);
  EXPECT_EQ(odd.known(true).count, 2U);
}

// Of a program that is between its regions for longer than its threads spin.
TEST(RegionScaling, WhatItTakesToWakeThreadsIsNoReasonForASmallerTeam) {
  auto const with = [](std::int64_t one_ns, std::int64_t two_ns) {
    RegionScaling region;
    for (int run = 0; run < 5; ++run) region.observe(1, one_ns), region.observe(2, two_ns);
    EXPECT_EQ(region.demand(2)->maximum, 1);
    return region;
  };
  EXPECT_FALSE(is_worth_a_smaller_team(with(27'000, 126'000)));
  EXPECT_TRUE(is_worth_a_smaller_team(with(27'000, 426'000)));
  EXPECT_TRUE(is_worth_a_smaller_team(with(2'000'000, 3'000'000)));
  EXPECT_FALSE(is_worth_a_smaller_team(with(20'000'000, 21'500'000))) << "clearly";
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
                     1 + static_cast<std::int64_t>(random() >> (1 + random() % 63)),
                     random() % 4 == 0);
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
