// SPDX-License-Identifier: Apache-2.0
#include "cli/others_time.hpp"

#include <gtest/gtest.h>

namespace nigh::cli {
namespace {

using namespace std::chrono_literals;

constexpr OthersTime::Clock::time_point start{1h};

TEST(OthersTime, IsTwoSecondsForAllProgramsTogether) {
  OthersTime time(start);
  auto now = start;
  auto spent = 0ms;
  for (int program = 0; program < 100; ++program) {
    auto const takes = std::min(500ms, time.left(now));
    time.spend(takes);
    now += takes;
    spent += takes;
  }
  EXPECT_GE(spent, 2000ms);
  EXPECT_LE(spent, 2250ms);
  EXPECT_EQ(time.left(now), 0ms);
}

TEST(OthersTime, IsATenthOfALongRun) {
  OthersTime time(start);
  auto now = start;
  time.spend(time.left(now));
  now += 10s;
  EXPECT_EQ(time.left(now), 1000ms);
  now += 1h;
  EXPECT_EQ(time.left(now), 2000ms) << "it does not add up to a long wait";
}

TEST(OthersTime, IsOverAfterThreeFailures) {
  OthersTime time(start);
  for (int i = 0; i < 3; ++i) {
    EXPECT_GT(time.left(start), 0ms);
    time.count_failure();
  }
  EXPECT_EQ(time.left(start), 0ms);
}

}  // namespace
}  // namespace nigh::cli
