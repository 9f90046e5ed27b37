// SPDX-License-Identifier: Apache-2.0
// One rank's part in a cluster: whom it asks, what it answers, when a run is over.

#include <gtest/gtest.h>

#include "engine_play.hpp"

namespace {

using nigh::level;
namespace policy = nigh::policy;
using namespace nigh::cluster;
using namespace nigh::tests;

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

// In any order in which ranks of a host look at each other's shared queues.
TEST(Engine, EndsEveryRunWhereRanksOfAHostShareMemory) {
  auto const all = play_all({true, false}, 1'000);
  EXPECT_GT(all.window_tasks, all.tasks_stolen / 10);
}

TEST(Engine, EndsEveryRunWhereSomeTasksAreTooLargeForASharedQueue) {
  auto const all = play_all({true, true}, 2'000);
  EXPECT_GT(all.window_tasks, 0u);
}

// A victim answers whatever it has, once for each request; a thief has one under way.
TEST(Engine, AsksOneVictimAtATimeAndRestsAfterARoundInVain) {
  ScriptedNetwork network(2);
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
  ScriptedNetwork network(3);
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
  ScriptedNetwork network(2);
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

// A short run may end on some ranks before others begin it, so a rank may be two runs ahead.
TEST(Engine, KeepsTasksOfALaterRunUntilThatRun) {
  ScriptedNetwork network(2);
  Rank behind(1, reaches(1, 2), network, {{}, 1, false});
  behind.engine.begin();
  Writer placed;
  placed.put(Header{Kind::placed, 0, 1, 3});
  put_task(placed, {0, 0, 7, false, bytes(sizeof(int))});
  behind.engine.receive(0, placed.view(), 0);
  EXPECT_FALSE(behind.has_ready());
  behind.engine.begin();
  EXPECT_FALSE(behind.has_ready()) << "it is a task of the third run";
  behind.engine.begin();
  EXPECT_TRUE(behind.has_ready());
}

// Ranks 0 and 1, of three; one leaves after its first run.
struct OneParts {
  ScriptedNetwork network{3};
  Rank stays, leaves;
  std::mt19937 random{1};

  explicit OneParts(int who)
      : stays(1 - who, reaches(1 - who, 3), network, {{}, 1, false}),
        leaves(who, reaches(who, 3), network, {{}, 1, false}) {
    stays.engine.begin();
    leaves.engine.begin();
    leaves.engine.part();
  }
  void hears_of_it(int self) {
    auto const told = network.next_for(self, random);
    stays.engine.receive(told.from, told.message, 0);
  }
};

TEST(Engine, EndsWhereARankTakesNoPartInTheRun) {
  for (int const who : {0, 1}) {
    OneParts early(who);
    early.hears_of_it(1 - who);
    EXPECT_FALSE(early.stays.ends()) << "it may part, too";
    early.stays.engine.begin();
    EXPECT_EQ(early.stays.ends(), Rank::What::has_parted);
    EXPECT_EQ(early.stays.ends_because_of(), who);

    OneParts late(who);
    late.stays.engine.begin();
    EXPECT_FALSE(late.stays.ends());
    late.hears_of_it(1 - who);
    EXPECT_EQ(late.stays.ends(), Rank::What::has_parted);
  }
}

}  // namespace
