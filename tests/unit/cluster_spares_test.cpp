// SPDX-License-Identifier: Apache-2.0
// Ranks that work and spare ones: the answer is right, whichever ranks are lost and whenever the session is
// resized.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine_play.hpp"

namespace {

namespace policy = nigh::policy;
using namespace nigh::cluster;
using namespace nigh::tests;
using testing::ElementsAre;

EnginePolicies policies_of(unsigned seed, bool supervised, int spares = 0) {
  auto policies = some_policies(seed, supervised);
  policies.has_free_tasks = !supervised && seed % 5 == 0;
  policies.spares = spares;
  return policies;
}

TEST(Engine, GivesNoTaskToASpareRank) {
  unsigned seed = 100;
  for (int ranks = 2; ranks < 8; ++ranks)
    for (int spares = 1; spares < ranks; ++spares)
      for (bool supervised : {false, true}) {
        SCOPED_TRACE(testing::Message() << "seed " << ++seed << ", " << spares << " of " << ranks);
        Play play({seed, ranks, {policies_of(seed, supervised, spares), 2, true},
                   !supervised && seed % 2 == 0});
        play();
        if (testing::Test::HasFatalFailure()) return;
        for (int rank = 0; rank < ranks; ++rank)
          EXPECT_EQ(play.ran(rank) > 0, rank < ranks - spares) << "rank " << rank;
      }
}

// Each working rank, lost at each message, and the spare rank, too; in a play of 200 messages or more
// at 100 to 150 of them.
TEST(Engine, HasASpareRankTakeThePlaceOfALostOneWhenever) {
  std::size_t plays = 0, taken = 0;
  unsigned seed = 10'000;
  for (int ranks : {3, 4, 5}) {
    Play whole({seed, ranks, {policies_of(seed, true, 1), 2, true}});
    whole();
    auto const messages = whole.messages();
    auto const stride = std::max<std::size_t>(1, messages / 100);
    for (int lost = 0; lost < ranks; ++lost)
      for (std::size_t after = 0; after < messages; after += stride) {
        SCOPED_TRACE(testing::Message() << "seed " << ++seed << ", rank " << lost << " of " << ranks
                                        << " is lost at message " << after);
        Play play({seed, ranks, {policies_of(seed, true, 1), 2, true}}, {{lost, after}});
        play();
        if (testing::Test::HasFatalFailure()) return;
        if (lost == ranks - 1) continue;
        ++plays;
        taken += play.ran(ranks - 1) > 0;
      }
  }
  EXPECT_GT(taken, plays * 3 / 4) << "as a rule there is work left";
}

// The second loss comes while the rank that is to take the place of the first hears of that.
TEST(Engine, LosesSpareRanksWhileTheyAreNeeded) {
  for (unsigned seed = 20'000; seed < 20'300; ++seed) {
    std::mt19937 random(seed);
    int const ranks = 3 + static_cast<int>(random() % 4);
    auto const at = random() % 300;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << ranks << " ranks");
    Play play({seed, ranks, {policies_of(seed, true, 2), 2, true}},
              {{ranks - 2, at + random() % 20}, {0, at}});
    play();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Engine, GrowsAndShrinksAtAnyTime) {
  for (unsigned seed = 30'000; seed < 30'200; ++seed) {
    int const ranks = 2 + static_cast<int>(seed % 7);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << ranks << " ranks");
    Play play({seed, ranks, {policies_of(seed, false), 2, true, true}, seed % 2 == 0, true});
    play();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Engine, GrowsAndShrinksWhileRanksAreLost) {
  for (unsigned seed = 40'000; seed < 40'300; ++seed) {
    std::mt19937 random(seed);
    int const ranks = 2 + static_cast<int>(random() % 6);
    auto const losses = some_losses(random, ranks, 3);
    SCOPED_TRACE(testing::Message()
                 << "seed " << seed << ", " << ranks << " ranks, " << losses.size() << " are lost");
    Play play({seed, ranks, {policies_of(seed, true), 2, true}, false, true}, losses);
    play();
    if (testing::Test::HasFatalFailure()) return;
  }
}

// The network says nothing of ranks that stop. Some go on before anybody has missed them.
TEST(Engine, GrowsAndShrinksWhileRanksAreSilent) {
  for (unsigned seed = 50'000; seed < 50'200; ++seed) {
    std::mt19937 random(seed);
    // More would send beats and sizes faster than the play delivers them.
    int const ranks = 2 + static_cast<int>(random() % 4);
    auto const stops = some_stops(random, ranks);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << ranks << " ranks");
    auto policies = policies_of(seed, true, 1);
    policies.silence_ns = 4'000'000;
    Play play({seed, ranks, {policies, 2, true}, false, seed % 2 == 0}, stops);
    play();
    if (testing::Test::HasFatalFailure()) return;
  }
}

class ThreeRanks : public testing::Test {
 public:
  ThreeRanks() {
    for (auto* rank : all) rank->engine.begin();
  }
  static EnginePolicies policies() {
    EnginePolicies policies;
    policies.supervised = true;
    policies.silence_ns = 1000;
    return policies;
  }
  void hear(int rank) {
    for (auto got = network.next_for(rank, random); got.from >= 0;
         got = network.next_for(rank, random))
      all[rank]->engine.receive(got.from, got.message, 0);
  }
  ScriptedNetwork network{3};
  Rank zero{0, reaches(0, 3), network, {policies(), 1}}, one{1, reaches(1, 3), network, {policies(), 1}},
      two{2, reaches(2, 3), network, {policies(), 1}};
  Rank* const all[3] = {&zero, &one, &two};
  std::mt19937 random{1};
};

TEST_F(ThreeRanks, ShareTheTasksOfOneThatBecomesSpare) {
  for (int i = 0; i < 8; ++i) two.add_root(3);
  one.engine.resize(2);
  hear(2);
  EXPECT_FALSE(two.engine.works());
  EXPECT_TRUE(two.has_ready()) << "it has not looked yet";
  two.engine.tick(0);
  EXPECT_FALSE(two.has_ready());
  hear(0);
  hear(1);
  EXPECT_TRUE(zero.has_ready());
  EXPECT_TRUE(one.has_ready());
  EXPECT_THAT(zero.engine.working(), ElementsAre(0, 1));
}

// Rank 0 told rank 1 alone.
TEST_F(ThreeRanks, LearnTheSizeThatALostRankHasNotToldAll) {
  zero.engine.resize(1);
  hear(1);
  one.engine.lose(0, 0);
  two.engine.lose(0, 0);
  EXPECT_TRUE(two.engine.works());
  one.engine.beat();
  hear(2);
  EXPECT_FALSE(two.engine.works());
  EXPECT_TRUE(one.engine.works());
}

TEST_F(ThreeRanks, TellNobodyOfASizeThatIsKnown) {
  zero.engine.resize(2);
  auto const sent = network.sent();
  zero.engine.resize(2);
  EXPECT_EQ(network.sent(), sent);
}

}  // namespace
