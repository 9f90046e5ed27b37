// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "policy/stealing/attention.hpp"

namespace {

using namespace nigh::policy;

constexpr LookoutPolicy p{
    .brief_ns = 2, .short_ns = 13, .long_ns = 100, .looks_after_ns = 5, .sleeps_before_long = 3};

TEST(Attention, SleepsShortWhereNobodyCanRing) {
  EXPECT_EQ(sleep_ns({}, p), 13);
  EXPECT_EQ(sleep_ns({.is_hungry = true}, p), 13);
}

TEST(Attention, SleepsLongWhereOthersRing) {
  EXPECT_EQ(sleep_ns({.all_can_ring = true}, p), 100);
  EXPECT_EQ(sleep_ns({.all_can_ring = true, .looks_alone = true}, p), 100);
  EXPECT_EQ(sleep_ns({.all_can_ring = true, .is_hungry = true}, p), 13) << "who else would look?";
  EXPECT_EQ(sleep_ns({.all_can_ring = true, .is_moving = true}, p), 13);
}

TEST(Attention, SleepsBrieflyWhereTasksAreExpectedAndNobodyElseLooks) {
  EXPECT_EQ(sleep_ns({.is_hungry = true, .expects_tasks = true, .looks_alone = true}, p), 2);
  EXPECT_EQ(sleep_ns({.is_hungry = true, .expects_tasks = true}, p), 13);
  EXPECT_EQ(sleep_ns({.expects_tasks = true, .looks_alone = true}, p), 13);
}

TEST(Attention, SleepsLongOnceWorkersHaveLookedAllTheTime) {
  for (int attended : {0, 1, 2}) EXPECT_EQ(sleep_ns({.attended = attended}, p), 13);
  EXPECT_EQ(sleep_ns({.attended = 3}, p), 100);
  EXPECT_EQ(sleep_ns({.is_hungry = true, .expects_tasks = true, .attended = 30}, p), 100);
  EXPECT_EQ(sleep_ns({.is_moving = true, .attended = 3}, p), 13);
}

TEST(Attention, LooksWhenNobodyHasForAWhile) {
  EXPECT_FALSE(looks_itself(false, 4, p));
  EXPECT_TRUE(looks_itself(false, 5, p));
  EXPECT_TRUE(looks_itself(true, 1, p));
  EXPECT_TRUE(was_attended(false, 12, p));
  EXPECT_FALSE(was_attended(false, 13, p)) << "a task of 13 goes on";
  EXPECT_FALSE(was_attended(true, 1, p));
}

TEST(Attention, SleepsShortAtTheBeginningOfARun) {
  EXPECT_EQ(attended_before_run(0, p), 0);
  EXPECT_EQ(sleep_ns({.attended = attended_before_run(30, p)}, p), 13);
  EXPECT_EQ(sleep_ns({.attended = attended_before_run(30, p) + 1}, p), 100);
}

// With any tasks, a lookout that sleeps short looks in time.
TEST(Attention, AnswersWithinItsPromise) {
  constexpr LookoutPolicy usual{};
  constexpr std::int64_t waking_ns = 20'000;
  EXPECT_LE(usual.looks_after_ns + usual.short_ns + waking_ns, 200'000);
}

TEST(Attention, RingsThoseWhoDoNotLookAndHaveSomething) {
  EXPECT_TRUE(rings(false, false));
  EXPECT_FALSE(rings(true, false));
  EXPECT_FALSE(rings(false, true));
  constexpr RingPolicy r{.after_ns = 6, .again_after_ns = 15};
  EXPECT_EQ(next_ring_in_ns(true, r), 6);
  EXPECT_EQ(next_ring_in_ns(false, r), 15);
}

}  // namespace
