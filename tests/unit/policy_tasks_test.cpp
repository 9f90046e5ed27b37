// SPDX-License-Identifier: Apache-2.0
// VictimOrder, ChunkSize, Idle.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/idle.hpp"
#include "policy/stealing/steal_order.hpp"

namespace nigh::policy {
namespace {

TEST(VictimOrder, NearestFirst) {
  EXPECT_EQ(victim_order(0, std::vector<double>{10, 30, 20, 40}), (std::vector<int>{2, 1, 3}));
}

TEST(VictimOrder, EquallyFarOnesFormARingBehindTheThief) {
  std::vector<double> const flat(4, 20);
  EXPECT_EQ(victim_order(0, flat), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(victim_order(2, flat), (std::vector<int>{3, 0, 1}));
}

// On a ring of four sockets the neighbours come before the one across.
TEST(VictimOrder, FourSocketsInARing) {
  EXPECT_EQ(victim_order(3, std::vector<double>{16, 21, 16, 10}), (std::vector<int>{0, 2, 1}));
}

TEST(VictimOrder, NamesEverybodyElseOnce) {
  for (int n = 1; n <= 9; ++n)
    for (int self = 0; self < n; ++self) {
      std::vector<double> distance;
      for (int d = 0; d < n; ++d) distance.push_back((d * 7 + self) % 3);
      auto order = victim_order(self, distance);
      order.push_back(self);
      std::sort(order.begin(), order.end());
      for (int d = 0; d < n; ++d) ASSERT_EQ(order[static_cast<std::size_t>(d)], d);
      ASSERT_EQ(order.size(), static_cast<std::size_t>(n));
    }
}

TEST(ChunkSize, IsHalfAFairShareWithinBounds) {
  EXPECT_EQ(chunk_of_own_queue(40, 4), 5u);
  for (std::size_t waiting = 1; waiting < 500; ++waiting)
    for (std::size_t workers = 0; workers < 20; ++workers) {
      auto const chunk = chunk_of_own_queue(waiting, workers);
      ASSERT_GE(chunk, 1u);
      ASSERT_LE(chunk, std::min(waiting, largest_chunk));
    }
}

TEST(ChunkSize, ThievesGetTheLargerHalf) {
  for (std::uint32_t n = 0; n < 100; ++n) {
    auto const given = tasks_to_share(n);
    ASSERT_LE(given, n);
    ASSERT_EQ(given, (n + 1) / 2);
  }
  EXPECT_EQ(tasks_to_share(UINT32_MAX), std::uint32_t{1} << 31);
}

TEST(ChunkSize, EndsAtEitherCutoff) {
  for (std::uint32_t depth = 0; depth < 6; ++depth)
    for (std::uint32_t waiting = 0; waiting < 6; ++waiting) {
      ASSERT_TRUE(forks(depth, waiting, {}));
      ASSERT_EQ(forks(depth, waiting, {.depth = 3}), depth < 3);
      ASSERT_EQ(forks(depth, waiting, {.queue = 2}), waiting < 2);
      ASSERT_EQ(forks(depth, waiting, {3, 2}), depth < 3 && waiting < 2);
    }
}

TEST(Idle, LooksAtHomeFirst) {
  constexpr IdlePolicy p{.rounds_in_own_domain = 2};
  EXPECT_FALSE(looks_abroad(1, p));
  EXPECT_TRUE(looks_abroad(2, p));
}

TEST(Idle, SpinsThenYieldsThenSleepsByTheClock) {
  constexpr IdlePolicy p{.spin_us = 3, .awake_us = 7, .brief_us = 5};
  for (std::int64_t us = 0; us < 20; ++us)
    for (auto const patience : {Patience::little, Patience::much}) {
      Rest const expected = us >= (patience == Patience::little ? 5 : 7) ? Rest::sleep
                            : us < 3                                    ? Rest::pause
                                                                        : Rest::yield;
      ASSERT_EQ(rest(us, patience, p), expected) << us;
    }
  EXPECT_EQ(rest(std::int64_t{1} << 40, Patience::much, p), Rest::sleep);
}

TEST(Idle, ShortPatienceEndsTheSpinningToo) {
  constexpr IdlePolicy p{.spin_us = 10, .awake_us = 4, .brief_us = 0};
  EXPECT_EQ(rest(3, Patience::much, p), Rest::pause);
  EXPECT_EQ(rest(4, Patience::much, p), Rest::sleep);
  EXPECT_EQ(rest(0, Patience::little, p), Rest::sleep);
}

TEST(Idle, StaysAwakeForLongOnlyWhereWorkComesSoon) {
  constexpr IdlePolicy p{.awake_us = 1000, .brief_us = 50};
  Waits waits;
  EXPECT_EQ(waits.patience(false), Patience::little);
  EXPECT_EQ(waits.patience(true), Patience::much);
  waits.ended_after(900, p);
  EXPECT_EQ(waits.patience(false), Patience::much);
  waits.ended_after(1000, p);
  EXPECT_EQ(waits.patience(false), Patience::little);
  waits.ended_after(49, p);  // too short to tell
  EXPECT_EQ(waits.patience(false), Patience::little);
  waits.ended_after(50, p);
  EXPECT_EQ(waits.patience(false), Patience::much);
  waits.woken();
  EXPECT_EQ(waits.patience(false), Patience::little);
  EXPECT_EQ(waits.patience(true), Patience::little);
  waits.runs_task();
  EXPECT_EQ(waits.patience(false), Patience::much);
}

}  // namespace
}  // namespace nigh::policy
