// SPDX-License-Identifier: Apache-2.0
// Which rank a thief asks, and when.

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "cluster/steal_search.hpp"

namespace {

using nigh::level;
using namespace nigh::cluster;
namespace policy = nigh::policy;

// Rank 0 of four, of which rank 1 is on its host.
policy::VictimPlan plan() {
  std::vector<policy::Reach> const to{
      {}, {level::host, 0}, {level::cluster, 0}, {level::cluster, 0}};
  return policy::victim_plan(0, to);
}

TEST(StealSearch, AsksOneRankAtATime) {
  auto const four = plan();
  StealSearch search(four, {});
  search.begin_run();
  ASSERT_TRUE(search.may_ask(0));
  search.asks(search.next_victim(), 0);
  EXPECT_EQ(search.asked(), 1) << "the nearest first";
  EXPECT_FALSE(search.may_ask(1'000'000'000)) << "a request is under way";
  search.is_answered();
  EXPECT_TRUE(search.may_ask(0));
}

TEST(StealSearch, RestsLongerAfterEachRoundWithoutLuck) {
  auto const four = plan();
  StealSearch search(four, {});
  std::int64_t now = 0, last_rest = 0;
  for (int round = 0; round < 5; ++round) {
    std::set<int> asked;
    for (bool is_over = false; !is_over; is_over = search.fails(now)) {
      ASSERT_TRUE(search.may_ask(now));
      asked.insert(search.next_victim());
    }
    EXPECT_EQ(asked.size(), 3u) << "a round reaches all";
    std::int64_t rest = 0;
    while (!search.may_ask(now + rest)) rest += 1'000;
    EXPECT_GE(rest, last_rest);
    EXPECT_GT(rest, 0);
    now += last_rest = rest;
  }
  search.succeeds();
  EXPECT_TRUE(search.may_ask(0)) << "and then no rest is left";
}

TEST(StealSearch, ExpectsTasksForAWhile) {
  auto const four = plan();
  StealSearch search(four, {.soon_ns = 100});
  EXPECT_FALSE(search.expects_tasks(0));
  search.asks(2, 1000);
  EXPECT_TRUE(search.expects_tasks(1099));
  EXPECT_FALSE(search.expects_tasks(1100));
  search.is_answered();
  EXPECT_FALSE(search.expects_tasks(1000));
}

TEST(StealSearch, WaitsAsLongAsItIsTold) {
  auto const four = plan();
  StealSearch search(four, {});
  search.rest_at_least_until(50);
  search.rest_at_least_until(20);
  EXPECT_FALSE(search.may_ask(49));
  EXPECT_TRUE(search.may_ask(50));
}

}  // namespace
