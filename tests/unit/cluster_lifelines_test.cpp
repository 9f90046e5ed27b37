// SPDX-License-Identifier: Apache-2.0
// Ranks that sleep on their lifelines: nothing is lost, runs end, and who sleeps asks nobody.

#include <gtest/gtest.h>

#include "engine_play.hpp"

namespace {

using nigh::level;
using namespace nigh::cluster;
using namespace nigh::tests;

TEST(Engine, EndsEveryRunOnEveryScheduleWithLifelines) {
  unsigned seed = 1000;
  rank_counters all;
  for (auto victims : {policy::VictimChoice::random, policy::VictimChoice::hierarchical})
    for (auto chunks : {policy::ChunkChoice::hierarchical, policy::ChunkChoice::one})
      for (bool const has_free_tasks : {false, true})
        for (int ranks : {1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 16}) {
          EnginePolicies policies{victims, chunks, {20'000, 1'000'000}, seed, has_free_tasks};
          policies.has_lifelines = true;
          SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << ranks << " ranks");
          play({seed, ranks, {policies, 2, seed % 2 == 0}, seed % 4 >= 2}, all);
          if (testing::Test::HasFatalFailure()) return;
          ++seed;
        }
}

// All messages that are under way arrive.
void deliver_all(ScriptedNetwork& network, std::vector<std::unique_ptr<Rank>> const& ranks,
                 std::mt19937& random, std::int64_t now) {
  while (network.under_way() > 0)
    for (std::size_t r = 0; r < ranks.size(); ++r)
      if (auto const got = network.next_for(static_cast<int>(r), random); got.from >= 0)
        ranks[r]->engine.receive(got.from, got.message, now);
}

TEST(Engine, AsksNobodyWhileItSleepsOnItsLifelines) {
  constexpr int count = 8;
  ScriptedNetwork network(count);
  EnginePolicies policies;
  policies.victims = policy::VictimChoice::random;
  policies.has_lifelines = true;
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int r = 0; r < count; ++r) {
    ranks.push_back(
        std::make_unique<Rank>(r, reaches(r, count), network, Rank::Rules{policies, 2, false}));
    ranks.back()->engine.begin();
  }
  std::mt19937 random(1);
  std::int64_t now = 0;
  auto const pass_time = [&](int ticks) {
    for (int i = 0; i < ticks; ++i, now += 1'000'000) {
      for (auto const& rank : ranks) rank->engine.tick(now);
      deliver_all(network, ranks, random, now);
    }
  };
  pass_time(100);
  auto const sent = network.sent();
  pass_time(1000);
  EXPECT_EQ(network.sent(), sent) << "all are asleep";

  ranks[5]->add_root(10);  // waits there from now on
  ranks[5]->add_root(10);
  ranks[5]->engine.tick(now);
  EXPECT_EQ(network.sent(), sent + 1) << "nobody asked for it";
  deliver_all(network, ranks, random, now);
  EXPECT_EQ(ranks[5]->engine.counters().tasks_given, 1u);
  std::uint64_t taken = 0;
  for (auto const& rank : ranks) taken += rank->engine.counters().tasks_stolen;
  EXPECT_EQ(taken, 1u);
}

TEST(Engine, AsksAgainOnceItHasHadSomethingToDo) {
  ScriptedNetwork network(2);
  EnginePolicies policies;
  policies.has_lifelines = true;
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int r = 0; r < 2; ++r) {
    ranks.push_back(
        std::make_unique<Rank>(r, reaches(r, 2), network, Rank::Rules{policies, 2, false}));
    ranks.back()->engine.begin();
  }
  std::mt19937 random(1);
  std::int64_t now = 0;
  auto& thief = ranks[1]->engine;
  auto const ticks = [&] {
    for (int i = 0; i < 20; ++i, now += 2'000'000) {
      thief.tick(now);
      deliver_all(network, ranks, random, now);
    }
  };
  ticks();
  EXPECT_EQ(thief.counters().steals_asked, 2u) << "a round";
  EXPECT_EQ(thief.counters().messages_sent, 3u) << "and one for a lifeline";
  ranks[1]->add_root(0);
  ticks();
  EXPECT_EQ(thief.counters().steals_asked, 2u);
  ranks[1]->drop_tasks();
  ticks();
  EXPECT_EQ(thief.counters().steals_asked, 4u);
  EXPECT_EQ(thief.counters().messages_sent, 5u) << "it has its lifeline still";
}

TEST(Engine, ForgetsLifelinesOfRunsThatAreOver) {
  ScriptedNetwork network(2);
  EnginePolicies policies;
  policies.has_lifelines = true;
  Rank victim(0, reaches(0, 2), network, {policies, 2, false});
  victim.engine.begin();
  Writer line;
  line.put(Header{Kind::lifeline, 0, 0, 1});
  victim.engine.receive(1, line.view(), 0);
  victim.engine.begin();
  victim.add_root(1);
  victim.add_root(1);
  victim.engine.tick(0);
  EXPECT_EQ(network.sent(), 0u);
  line.clear();
  line.put(Header{Kind::lifeline, 0, 0, 3});  // of who is ahead
  victim.engine.receive(1, line.view(), 0);
  victim.engine.tick(0);
  EXPECT_EQ(network.sent(), 0u);
  victim.engine.begin();
  victim.engine.tick(0);
  EXPECT_EQ(network.sent(), 1u);
}

}  // namespace
