// SPDX-License-Identifier: Apache-2.0
// Several ranks' engines in one thread, on a network whose schedule a seed decides: each task runs
// once, each result arrives once, and a run is over when all of it is done, not before.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "cluster_rank.hpp"

namespace {

namespace policy = nigh::policy;
namespace tests = nigh::tests;
using namespace nigh::tests;
using nigh::level;
using namespace nigh::cluster;
using tests::ScriptedNetwork;

struct Schedule {
  unsigned seed;
  int ranks;
  Rank::Rules rules;
  bool shares_memory = false;
};

// Runs follow each other; ranks are not all in the same one.
void play(Schedule const& s, rank_counters& all) {
  constexpr int runs = 3;
  std::mt19937 random(s.seed);
  tests::ScriptedNetwork network(s.ranks);
  Hosts const hosts(s.ranks);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int r = 0; r < s.ranks; ++r)
    ranks.push_back(std::make_unique<Rank>(r, reaches(r, s.ranks), network, s.rules,
                                           s.shares_memory ? hosts.seen_by(r) : Neighbours{}));
  std::vector<int> run_of(static_cast<std::size_t>(s.ranks), 0), left(run_of);
  auto const size_in = [](int run) { return 4 + run; };

  int finished = 0;
  std::int64_t now = 0;
  for (int step = 0; finished < s.ranks; ++step) {
    ASSERT_LT(step, 3'000'000) << "it ends";
    now += 1 + static_cast<std::int64_t>(random() % 2000);
    auto const r = random() % static_cast<unsigned>(s.ranks);
    auto& rank = *ranks[r];
    if (left[r] == runs) continue;
    if (run_of[r] == left[r]) {  // between two runs
      if (random() % 8 != 0) continue;
      ++run_of[r];
      rank.engine.begin();
      if (r == 0) rank.add_root(size_in(run_of[r]));
    }
    switch (random() % 3) {
      case 0:
        rank.step(random);
        break;
      case 1: {
        auto const got = network.next_for(static_cast<int>(r), random);
        if (got.from >= 0) rank.engine.receive(got.from, got.message, now);
        break;
      }
      default:
        rank.engine.tick(now);
    }
    if (!rank.engine.is_over()) continue;
    auto const outcome = rank.engine.take_outcome();
    int value = 0;
    std::memcpy(&value, outcome.output.data(), sizeof value);
    ASSERT_EQ(value, (2 << size_in(run_of[r])) - 1);
    ASSERT_TRUE(rank.is_idle()) << "rank " << r << " has nothing left";
    ASSERT_TRUE(hosts.board(static_cast<int>(r)).shelf.is_empty()) << "nor on its shelf";
    if (++left[r] == runs) ++finished;
  }
  TaskCounts sum;
  for (auto const& rank : ranks) {
    auto const& c = rank->engine.counters();
    all.tasks_stolen += c.tasks_stolen;
    all.tasks_given += c.tasks_given;
    all.window_tasks += c.window_tasks;
    sum.created += rank->free_counts().created;
    sum.finished += rank->free_counts().finished;
  }
  EXPECT_EQ(sum.created, sum.finished);
  EXPECT_EQ(all.tasks_stolen, all.tasks_given);
  EXPECT_LE(all.window_tasks, all.tasks_stolen);
}

struct Neighbourhood {
  bool shares_memory, has_large_tasks;
};

// All policies, with and without free tasks, in small and large clusters.
rank_counters play_all(Neighbourhood n, unsigned seed) {
  rank_counters all;
  for (auto victims : {policy::VictimChoice::hierarchical, policy::VictimChoice::random,
                       policy::VictimChoice::ring})
    for (auto chunks :
         {policy::ChunkChoice::hierarchical, policy::ChunkChoice::half, policy::ChunkChoice::one})
      for (bool const has_free_tasks : {false, true})
        for (int ranks : {1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9}) {
          EnginePolicies policies{victims, chunks, {20'000, 1'000'000}, seed, has_free_tasks};
          SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << ranks << " ranks");
          play({seed, ranks, {policies, 2, seed % 2 == 0, n.has_large_tasks}, n.shares_memory},
               all);
          if (testing::Test::HasFatalFailure()) return all;
          ++seed;
        }
  return all;
}

TEST(Engine, EndsEveryRunOnEveryScheduleWithEveryPolicy) {
  EXPECT_EQ(play_all({false, false}, 1).window_tasks, 0u);
}

// Whatever order neighbours look at each other's shelves in.
TEST(Engine, EndsEveryRunWhereNeighboursTakeFromShelves) {
  auto const all = play_all({true, false}, 1'000);
  EXPECT_GT(all.window_tasks, all.tasks_stolen / 10);
}

TEST(Engine, EndsEveryRunWhereSomeTasksAreTooLargeForAShelf) {
  auto const all = play_all({true, true}, 2'000);
  EXPECT_GT(all.window_tasks, 0u);
}

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
void deliver_all(tests::ScriptedNetwork& network, std::vector<std::unique_ptr<Rank>> const& ranks,
                 std::mt19937& random, std::int64_t now) {
  while (network.under_way() > 0)
    for (std::size_t r = 0; r < ranks.size(); ++r)
      if (auto const got = network.next_for(static_cast<int>(r), random); got.from >= 0)
        ranks[r]->engine.receive(got.from, got.message, now);
}

TEST(Engine, AsksNobodyWhileItSleepsOnItsLifelines) {
  constexpr int count = 8;
  tests::ScriptedNetwork network(count);
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
  tests::ScriptedNetwork network(2);
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
  tests::ScriptedNetwork network(2);
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

// A victim answers whatever it has, once for each request; a thief has one under way.
TEST(Engine, AsksOneVictimAtATimeAndRestsAfterARoundInVain) {
  tests::ScriptedNetwork network(2);
  EnginePolicies policies;
  Rank thief(1, reaches(1, 2), network, {policies, 1, false});
  Rank victim(0, reaches(0, 2), network, {policies, 1, false});
  std::mt19937 random(1);
  thief.engine.begin();
  victim.engine.begin();
  thief.engine.tick(0);
  thief.engine.tick(1);
  EXPECT_EQ(network.sent(), 1u) << "a request is under way";
  int asked = 0;
  for (std::int64_t now = 2; asked < 2; ++now) {
    auto request = network.next_for(0, random);
    victim.engine.receive(request.from, request.message, now);
    auto answer = network.next_for(1, random);
    thief.engine.receive(answer.from, answer.message, now);
    ++asked;
    thief.engine.tick(now);
    if (network.under_way() == 0) break;
  }
  EXPECT_EQ(network.under_way(), 0u) << "it rests";
  thief.engine.tick(19'000);
  EXPECT_EQ(network.under_way(), 0u);
  thief.engine.tick(25'000);
  EXPECT_EQ(network.under_way(), 1u);
}

// Hosts of one rank; the first two hang off one switch.
TEST(Engine, GivesHalfOfItsTasksOnlyToTheFarthest) {
  tests::ScriptedNetwork network(3);
  EnginePolicies policies;
  policies.fixed_chunk = 2;
  Rank victim(0, {{}, {level::cluster, 0}, {level::cluster, 1}}, network, {policies, 1, false});
  std::mt19937 random(1);
  victim.engine.begin();
  for (int i = 0; i < 10; ++i) victim.add_root(1);
  Writer request;
  request.put(Header{Kind::steal, 0, 0, 1});
  auto const given_to = [&](int thief) {
    victim.engine.receive(thief, request.view(), 0);
    auto const answer = network.next_for(thief, random);
    return Reader(answer.message).get<Header>().count;
  };
  EXPECT_EQ(given_to(1), 2);
  EXPECT_EQ(given_to(2), 4);
}

TEST(Engine, GivesNothingToWhoIsInAnotherRun) {
  tests::ScriptedNetwork network(2);
  EnginePolicies policies;
  Rank ahead(1, reaches(1, 2), network, {policies, 1, false});
  Rank behind(0, reaches(0, 2), network, {policies, 1, false});
  std::mt19937 random(1);
  ahead.engine.begin();
  ahead.engine.begin();
  behind.engine.begin();
  behind.add_root(3);
  ahead.engine.tick(0);
  auto request = network.next_for(0, random);
  behind.engine.receive(request.from, request.message, 0);
  auto answer = network.next_for(1, random);
  ahead.engine.receive(answer.from, answer.message, 0);
  EXPECT_TRUE(ahead.is_idle());
  EXPECT_EQ(ahead.engine.counters().steals_failed, 1u);
}

}  // namespace
