// SPDX-License-Identifier: Apache-2.0
// The steps of an engine with ranks of its host.

#include <gtest/gtest.h>

#include "cluster_rank.hpp"

namespace {

using nigh::level;
using namespace nigh::cluster;
using namespace nigh::tests;

// Two ranks of one host, rank 1 without work.
struct Pair {
  explicit Pair(bool has_large_tasks = false) : rules{{}, 1, false, has_large_tasks} {
    owner.engine.begin();
    thief.engine.begin();
  }
  ScriptedNetwork network{2};
  Hosts hosts{2};
  Rank::Rules rules;
  Rank owner{0, reaches(0, 2), network, rules, hosts.seen_by(0)};
  Rank thief{1, reaches(1, 2), network, rules, hosts.seen_by(1)};
  std::mt19937 random{1};
};

TEST(EngineInSharedMemory, StealsFromTheSharedQueueWithoutAMessage) {
  Pair p;
  p.owner.add_root(3);
  p.owner.step(p.random);  // two tasks now
  p.owner.engine.tick(0);
  EXPECT_TRUE(p.hosts.segment(0).queue.is_empty()) << "nobody wants anything";
  EXPECT_FALSE(p.owner.engine.is_called());
  p.thief.engine.tick(10);
  EXPECT_TRUE(p.owner.engine.is_called());
  p.owner.engine.tick(20);
  EXPECT_FALSE(p.owner.engine.is_called());
  EXPECT_FALSE(p.hosts.segment(0).queue.is_empty());
  p.thief.engine.tick(30);
  EXPECT_TRUE(p.hosts.segment(0).queue.is_empty());
  EXPECT_FALSE(p.thief.is_idle());
  EXPECT_EQ(p.network.sent(), 0u);
  EXPECT_EQ(p.thief.engine.counters().window_steals, 1u);
  EXPECT_EQ(p.thief.engine.counters().window_tasks, 1u);
  EXPECT_EQ(p.thief.engine.counters().tasks_stolen, 1u);
  EXPECT_EQ(p.owner.engine.counters().tasks_given, 1u);
}

TEST(EngineInSharedMemory, TakesBackWhatNobodyCameFor) {
  Pair p;
  p.thief.engine.tick(0);
  p.owner.add_root(0);
  p.owner.engine.tick(10);
  EXPECT_TRUE(p.owner.is_idle()) << "its only task is in the shared queue";
  p.owner.engine.tick(20);
  EXPECT_FALSE(p.owner.is_idle());
  EXPECT_EQ(p.owner.engine.counters().tasks_given, 0u);
}

TEST(EngineInSharedMemory, AreAskedByMessageForWhatIsTooLarge) {
  Pair p(true);
  p.thief.engine.tick(0);
  p.owner.add_root(2);
  p.owner.engine.tick(10);
  EXPECT_TRUE(p.hosts.segment(0).queue.is_empty());
  EXPECT_FALSE(p.owner.is_idle()) << "the task is back";
  EXPECT_FALSE(p.owner.engine.is_called()) << "to no avail";
  p.thief.engine.tick(30'000);
  auto const request = p.network.next_for(0, p.random);
  ASSERT_EQ(request.from, 1);
  p.owner.engine.receive(request.from, request.message, 30'000);
  auto const answer = p.network.next_for(1, p.random);
  p.thief.engine.receive(answer.from, answer.message, 30'000);
  EXPECT_FALSE(p.thief.is_idle());
  EXPECT_EQ(p.thief.engine.counters().window_tasks, 0u);
}

// Both are hungry: no time is lost with each other, and none is asked by message.
TEST(EngineInSharedMemory, AreNotWaitedForWhenTheyHaveNothingEither) {
  ScriptedNetwork network(3);
  Hosts const hosts(4);
  auto const seen = [&](int self) {
    return HostSegments(self, {&hosts.segment(0), &hosts.segment(1), nullptr});
  };
  Rank a(0, reaches(0, 3), network, {{}, 1, false}, seen(0));
  Rank b(1, reaches(1, 3), network, {{}, 1, false}, seen(1));
  a.engine.begin();
  b.engine.begin();
  b.engine.tick(0);
  EXPECT_EQ(network.sent(), 0u) << "it waits a little for what its neighbour may have";
  a.engine.tick(0);
  std::mt19937 random(1);
  EXPECT_EQ(network.next_for(2, random).from, 0) << "it asks another host";
}

// The owner's workers are in long tasks.
TEST(EngineInSharedMemory, AreRungWhenTheyDoNotLook) {
  Pair p;
  p.owner.add_root(3);
  p.owner.engine.tick(0);
  p.thief.engine.tick(0);
  p.thief.engine.tick(59'999);
  EXPECT_TRUE(p.thief.rung().empty()) << "it is early";
  p.thief.engine.tick(60'000);
  EXPECT_EQ(p.thief.rung(), std::vector<int>{0});
  p.thief.engine.tick(209'999);
  EXPECT_EQ(p.thief.rung().size(), 1u);
  p.thief.engine.tick(210'000);
  EXPECT_EQ(p.thief.rung().size(), 2u);
}

TEST(EngineInSharedMemory, AreNotRungAsLongAsTheyLook) {
  Pair p;
  p.owner.is_at_work = true;
  p.owner.engine.tick(0);
  p.thief.engine.tick(0);
  for (int us = 50; us < 1000; us += 50) {
    p.owner.engine.tick(us * 1000);
    p.thief.engine.tick(us * 1000);
  }
  EXPECT_TRUE(p.thief.rung().empty()) << "there is nothing to give, and it knows what is wanted";
}

TEST(EngineInSharedMemory, AreNotRungWhenTheyHaveNothingEither) {
  Pair p;
  p.thief.engine.tick(0);
  p.owner.engine.tick(10);
  for (int us = 50; us < 1000; us += 50) p.thief.engine.tick(us * 1000);
  EXPECT_TRUE(p.thief.rung().empty());
}

TEST(EngineInSharedMemory, LeavesTasksOfAnotherRunAlone) {
  Pair p;
  p.thief.engine.tick(0);
  p.owner.engine.begin();
  p.owner.add_root(0);
  p.owner.engine.tick(10);
  EXPECT_TRUE(p.hosts.segment(0).queue.is_empty()) << "the thief is not in this run";
  Descriptor task;
  ASSERT_TRUE(p.hosts.segment(0).queue.put(task, 2));
  p.thief.engine.tick(30'000);
  EXPECT_TRUE(p.thief.is_idle());
}

// As if a neighbour had died with all that it was about to copy.
TEST(EngineInSharedMemory, KeepsItsTasksWhereItsQueueIsFull) {
  Pair p;
  p.thief.engine.tick(0);
  Descriptor task;
  while (p.hosts.segment(0).queue.put(task, 7)) {
  }
  p.owner.add_root(0);
  p.owner.engine.tick(10);
  EXPECT_FALSE(p.owner.is_idle());
  p.owner.step(p.random);
  EXPECT_TRUE(p.owner.engine.is_over());
}

// ---- the state machine alone, without an engine

struct OwnerAndThief {
  OwnerAndThief() {
    for (auto* side : {&owner, &thief}) side->begin_run(1);
  }
  Hosts hosts{2};
  SharedStealing owner{hosts.seen_by(0), {}}, thief{hosts.seen_by(1), {}};
  Chunk const one{policy::ChunkChoice::one, level::host, level::host};
};

TEST(SharedStealing, PutsTasksThereOnlyWhenAskedAndOnlyOnce) {
  OwnerAndThief t;
  EXPECT_FALSE(t.owner.takes_request());
  t.owner.look(false);
  EXPECT_EQ(t.thief.ask(0, 0), SharedStealing::Next::wait);
  EXPECT_TRUE(t.owner.is_called());
  ASSERT_TRUE(t.owner.takes_request());
  EXPECT_FALSE(t.owner.takes_request());
  ASSERT_TRUE(t.owner.put({7, 0, 99, false, {}}));
  t.owner.has_put(1, false);
  auto const stolen = t.thief.steal(0, t.one);
  ASSERT_EQ(stolen.count, 1u);
  EXPECT_EQ(stolen.tasks[0].token, 99u);
  EXPECT_EQ(t.owner.take_back(t.one).count, 0u);
}

TEST(SharedStealing, PassesOnARankThatHasNothingEither) {
  OwnerAndThief t;
  t.owner.look(true);
  EXPECT_EQ(t.thief.ask(0, 0), SharedStealing::Next::pass_on);
  EXPECT_TRUE(t.thief.asked().empty());
  EXPECT_FALSE(t.owner.is_called());
}

TEST(SharedStealing, SendsAThiefToTheMailForTasksThatFitNoQueue) {
  OwnerAndThief t;
  t.owner.look(false);
  t.thief.ask(0, 0);
  ASSERT_TRUE(t.owner.takes_request());
  EXPECT_FALSE(t.owner.put({7, 0, 99, false, bytes(200)}));
  t.owner.has_put(0, true);
  EXPECT_FALSE(t.owner.is_called()) << "it has seen the request in vain";
  EXPECT_EQ(t.thief.ask(0, 0), SharedStealing::Next::ask_by_message);
}

TEST(SharedStealing, WaitsForNoRankOnceItHasGotSomething) {
  OwnerAndThief t;
  t.owner.look(false);
  t.thief.ask(0, 0);
  EXPECT_EQ(t.thief.asked().size(), 1u);
  EXPECT_TRUE(t.thief.expects_tasks(1));
  ASSERT_TRUE(t.owner.takes_request());
  ASSERT_TRUE(t.owner.put({}));
  t.owner.has_put(1, false);
  EXPECT_EQ(t.thief.steal(0, t.one).count, 1u);
  EXPECT_TRUE(t.thief.asked().empty());
  EXPECT_FALSE(t.thief.expects_tasks(1));
}

}  // namespace
