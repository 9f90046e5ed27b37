// SPDX-License-Identifier: Apache-2.0
// Supervised tasks: whatever rank is lost, and whenever, the answer is right.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine_play.hpp"

namespace {

namespace policy = nigh::policy;
using nigh::level;
using namespace nigh::cluster;
using namespace nigh::tests;

EnginePolicies supervised(unsigned seed) { return some_policies(seed, true); }

TEST(Engine, IsTheSameToTheProgramWhenTasksAreSupervised) {
  unsigned seed = 2000;
  rank_counters all;
  for (int ranks : {1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 16}) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << ranks << " ranks");
    play({seed, ranks, {supervised(seed), 2, seed % 2 == 0}}, all);
    if (testing::Test::HasFatalFailure()) return;
    ++seed;
  }
}

// Each rank, lost at each message; in a play of 200 messages or more at 100 to 150 of them.
TEST(Engine, RunsAgainWhatWasLostWithARankWhenever) {
  std::uint64_t again = 0, plays = 0, successions = 0;
  unsigned seed = 3000;
  for (int ranks : {2, 3, 4, 6}) {
    Play whole({seed, ranks, {supervised(seed), 2, true}});
    whole();
    auto const messages = whole.messages();
    auto const stride = std::max<std::size_t>(1, messages / 100);
    for (int lost = 0; lost < ranks; ++lost)
      for (std::size_t after = 0; after < messages; after += stride, ++seed, ++plays) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << ", rank " << lost << " of " << ranks
                                        << " is lost at message " << after);
        Play play({seed, ranks, {supervised(seed), 2, true, false, seed % 8 < 4}}, {{lost, after}});
        play();
        if (testing::Test::HasFatalFailure()) return;
        again += play.counters().tasks_run_again;
        successions += play.successions();
      }
  }
  EXPECT_GT(again, plays / 4) << "losses mattered";
  EXPECT_GT(successions, plays / 8) << "a root was lost in the midst of a run";
}

TEST(Engine, EndsWithTheRightAnswerWhoeverIsLeft) {
  for (unsigned seed = 5000; seed < 5300; ++seed) {
    std::mt19937 random(seed);
    int const ranks = 2 + static_cast<int>(random() % 8);
    auto const losses = some_losses(random, ranks, 4);
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed << ", " << ranks << " ranks, " << losses.size() << " are lost");
    Play play({seed, ranks, {supervised(seed), 2, true, false, seed % 2 == 0}}, losses);
    play();
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Stopped, not lost: the network says nothing. Some go on before anybody has missed them.
TEST(Engine, GoesOnWithoutThoseWhoAreSilent) {
  std::uint64_t again = 0;
  for (unsigned seed = 7000; seed < 7200; ++seed) {
    std::mt19937 random(seed);
    int const ranks = 2 + static_cast<int>(random() % 5);
    auto const stops = some_stops(random, ranks);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << ranks << " ranks");
    auto policies = supervised(seed);
    policies.silence_ns = 4'000'000;
    Play play({seed, ranks, {policies, 2, true, false, seed % 2 == 0}}, stops);
    play();
    if (testing::Test::HasFatalFailure()) return;
    again += play.counters().tasks_run_again;
  }
  EXPECT_GT(again, 0u) << "silence mattered";
}

// Ranks 1 and 2 of three listen to rank 0, and hear it for a while.
class SilentRoot : public testing::Test {
 public:
  SilentRoot() {
    for (auto* rank : {&one, &two}) rank->engine.begin();
    for (int i = 0; i < 30; ++i) {
      tick(i % 5 == 0);
      hear_each_other();
    }
  }
  static EnginePolicies policies() {
    EnginePolicies policies;
    policies.supervised = true;
    policies.silence_ns = 1000;
    return policies;
  }
  void tick(bool hears_root) {
    Writer beat;
    beat.put(Header{Kind::beat, 0, 0, 1});
    beat.put(std::uint32_t{0});
    beat.put(SessionSize{});
    now += 90;
    for (auto* rank : {&one, &two}) {
      if (hears_root) rank->engine.receive(0, beat.view(), now);
      rank->engine.tick(now);
      rank->engine.beat();
    }
  }
  void hear_each_other() {
    for (auto got = network.next_for(1, random); got.from >= 0; got = network.next_for(1, random))
      one.engine.receive(got.from, got.message, now);
    for (auto got = network.next_for(2, random); got.from >= 0; got = network.next_for(2, random))
      two.engine.receive(got.from, got.message, now);
  }
  ScriptedNetwork network{3};
  Rank one{1, reaches(1, 3), network, {policies(), 1}}, two{2, reaches(2, 3), network, {policies(), 1}};
  std::mt19937 random{1};
  std::int64_t now = 0;
};

TEST_F(SilentRoot, IsFollowedByItsDeputy) {
  EXPECT_FALSE(one.becomes_root());
  for (int i = 0; i < 12; ++i) {
    tick(false);
    hear_each_other();
  }
  EXPECT_TRUE(one.becomes_root());
  EXPECT_TRUE(one.engine.is_root());
  EXPECT_EQ(two.take_left(), (std::vector<int>{0}));
  EXPECT_FALSE(one.ends());
  EXPECT_FALSE(two.ends());
}

TEST_F(SilentRoot, EndsARankThatDoesNotHearTheDeputyEither) {
  for (int i = 0; i < 12; ++i) tick(false);
  EXPECT_TRUE(two.ends() == Rank::What::root_is_silent);
}

TEST(Engine, PartsWhenAllWantToOrAreLeft) {
  ScriptedNetwork network(3);
  EnginePolicies policies;
  policies.supervised = true;
  policies.silence_ns = 1000;
  Rank zero(0, reaches(0, 3), network, {policies, 1}),
      one(1, reaches(1, 3), network, {policies, 1});
  std::mt19937 random(1);
  zero.engine.part();
  one.engine.part();
  for (auto got = network.next_for(0, random); got.from >= 0; got = network.next_for(0, random))
    zero.engine.receive(got.from, got.message, 0);
  EXPECT_FALSE(zero.engine.has_parted()) << "rank 2 is not there yet";
  Writer beat;
  beat.put(Header{Kind::beat, 0, 0, 0});
  beat.put(std::uint32_t{0});
  beat.put(SessionSize{});
  for (std::int64_t now = 0; now < 1500; now += 90) {
    zero.engine.receive(1, beat.view(), now);
    zero.engine.listen(now);
  }
  EXPECT_EQ(zero.take_left(), (std::vector<int>{2}));
  EXPECT_TRUE(zero.engine.has_parted());
  for (auto got = network.next_for(1, random); got.from >= 0; got = network.next_for(1, random))
    one.engine.receive(got.from, got.message, 0);
  EXPECT_TRUE(one.engine.has_parted());
  EXPECT_EQ(one.take_left(), (std::vector<int>{2}));
}

// The root has told rank 1 the outcome of a run, and is lost before it tells rank 2.
TEST(Engine, HasASuccessorTellWhatALostRootHasNotToldAll) {
  ScriptedNetwork network(3);
  EnginePolicies policies;
  policies.supervised = true;
  Rank one(1, reaches(1, 3), network, {policies, 1}), two(2, reaches(2, 3), network, {policies, 1});
  std::mt19937 random(1);
  for (auto* rank : {&one, &two}) rank->engine.begin();
  Writer stop;
  stop.put(Header{Kind::stop, 0, 0, 1});
  put_outcome(stop, {false, 0, bytes(4, std::byte{7})}, 0);
  one.engine.receive(0, stop.view(), 0);
  EXPECT_TRUE(one.engine.is_over());
  for (auto* rank : {&one, &two}) rank->engine.lose(0, 0);
  EXPECT_FALSE(one.becomes_root()) << "that run is over";
  for (auto got = network.next_for(2, random); got.from >= 0; got = network.next_for(2, random))
    two.engine.receive(got.from, got.message, 0);
  ASSERT_TRUE(two.engine.is_over());
  EXPECT_EQ(two.engine.take_outcome().output, bytes(4, std::byte{7}));
}

TEST(Verdicts, AreKeptUntilAllHaveBegunALaterRun) {
  Verdicts verdicts(3);
  byte_view const none;
  for (std::uint32_t run : {1u, 2u, 3u}) verdicts.keep(run, none);
  for (int rank : {0, 1}) verdicts.has_begun(rank, 4);
  verdicts.has_begun(2, 2);
  verdicts.has_begun(2, 1);
  EXPECT_EQ(verdicts.first_needed({0, 1, 2}), 2u);
  EXPECT_EQ(verdicts.first_needed({0, 1}), 4u);
  verdicts.forget_before(2);
  ASSERT_EQ(verdicts.kept().size(), 2u);
  EXPECT_EQ(verdicts.kept().front().run, 2u);
}

TEST(Engine, AsksThoseWhoAreLeftOnceTheOneItAsksIsLost) {
  ScriptedNetwork network(3);
  EnginePolicies policies;
  policies.supervised = true;
  Rank thief(0, reaches(0, 3), network, {policies, 1});
  std::mt19937 random(1);
  std::int64_t now = 0;
  thief.engine.begin();
  thief.engine.tick(now);
  int const lost = network.next_for(1, random).from == 0 ? 1 : 2, left = 3 - lost;
  thief.engine.lose(lost, now);
  Writer none;
  none.put(Header{Kind::tasks, 0, 0, 1});
  for (int asked = 0; asked < 50; ++asked) {
    for (int i = 0; i < 5; ++i) thief.engine.tick(now += 2'000'000);
    ASSERT_EQ(network.next_for(left, random).from, 0);
    thief.engine.receive(left, none.view(), now);
  }
  EXPECT_EQ(thief.engine.counters().steals_asked, 51u) << "and nobody else";
}

constexpr auto nobody_is_lost = [](int) { return false; };

TEST(Supervision, TakesAResultOnce) {
  Supervision kept(0);
  Task const task{7, 0, 99, false, {}};
  auto const away = kept.keep(1, task);
  EXPECT_EQ(away.function, 7u);
  EXPECT_EQ(kept.result_of(away.token).value().token, 99u);
  EXPECT_FALSE(kept.result_of(away.token));
  auto const second = kept.keep(1, task);
  EXPECT_NE(second.token, away.token);
  EXPECT_EQ(kept.lose(1, nobody_is_lost).size(), 1u);
  EXPECT_FALSE(kept.result_of(second.token)) << "it is run again";
}

TEST(Supervision, DropsWhatNobodyWaitsFor) {
  Supervision kept(0);
  static_cast<void>(kept.keep(1, {7, 2, 99, false, {}}));  // of rank 2, passed on to rank 1
  static_cast<void>(kept.keep(1, {8, 0, 98, false, {}}));
  auto const two_is_lost = [](int rank) { return rank == 2; };
  EXPECT_THAT(kept.lose(2, two_is_lost), testing::IsEmpty());
  auto const again = kept.lose(1, two_is_lost);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].function, 8u);
  EXPECT_EQ(kept.kept(), 0u);
}

TEST(Supervision, RenamesEachTaskOfAMessage) {
  Supervision kept(3);
  Writer given;
  given.put(Header{Kind::tasks, 0, 2, 5});
  put_task(given, {7, 3, 99, false, bytes(4)});
  put_task(given, {8, 3, 98, false, {}});
  auto const away = kept.keep_all(1, given.view());
  Reader reader(away);
  EXPECT_EQ(reader.get<Header>().count, 2);
  auto const first = get_task(reader), second = get_task(reader);
  EXPECT_EQ(first.input.size(), 4u);
  EXPECT_EQ(kept.result_of(second.token).value().token, 98u);
  EXPECT_EQ(kept.result_of(first.token).value().token, 99u);
}

}  // namespace
