// SPDX-License-Identifier: Apache-2.0
#include "policy/cpus/server_place.hpp"

#include <gtest/gtest.h>

namespace nigh::policy {
namespace {

constexpr int anywhere = ServerPlace::anywhere;
constexpr ServerPlace::Who one = 16, other = 17;
constexpr ServerPlace::Time ms = 1000, s = 1'000'000;
constexpr bool late = true, in_time = false;

ServerPlace beside_one(int cpu = 3) {
  ServerPlace place;
  place.ask(one, cpu, in_time, 0);
  return place;
}

TEST(ServerPlace, IsBesideWhoAsksAndStays) {
  EXPECT_EQ(ServerPlace().cpu(), anywhere);
  auto place = beside_one();
  EXPECT_EQ(place.cpu(), 3);
  for (int i = 1; i < 100; ++i) {
    place.ask(one, 3, in_time, i * ms);
    place.hear(one);
    EXPECT_EQ(place.cpu(), 3);
  }
}

TEST(ServerPlace, IsNowhereInParticularForOneThatDoesNotSayWhereItIs) {
  auto place = beside_one(anywhere);
  EXPECT_EQ(place.cpu(), anywhere);
  place.ask(one, 3, in_time, 1);
  EXPECT_EQ(place.cpu(), 3) << "it was not refused";
  place.ask(one, anywhere, in_time, 2);
  EXPECT_EQ(place.cpu(), anywhere);
}

TEST(ServerPlace, IsAnywhereForSeveralAndMovesSeldom) {
  auto place = beside_one();
  int moves = 1;
  for (ServerPlace::Time t = 1; t < s; ++t) {
    bool const was_anywhere = place.cpu() == anywhere;
    place.ask(t % 2 != 0 ? other : one, t % 2 != 0 ? 1 : 3, in_time, t);
    EXPECT_TRUE(was_anywhere || place.cpu() == anywhere) << "another has asked";
    moves += was_anywhere && place.cpu() != anywhere ? 1 : 0;
  }
  EXPECT_GE(moves, 12) << "it tries again";
  EXPECT_LE(moves, 14) << "four times, and then once in 100 ms";
}

TEST(ServerPlace, IsAnywhereForThreadsOfOneProgramOnSeveralCpus) {
  auto place = beside_one();
  place.ask(one, 4, in_time, 1);
  EXPECT_EQ(place.cpu(), anywhere);
  place.ask(one, 4, in_time, 2);
  EXPECT_EQ(place.cpu(), 4) << "it has moved, and stayed";
  for (int t = 3; t < 100; ++t) place.ask(one, 3 + t % 2, in_time, t);
  EXPECT_EQ(place.cpu(), anywhere);
  place.ask(one, 4, in_time, 99 * ms);
  EXPECT_EQ(place.cpu(), anywhere);
  place.ask(one, 4, in_time, 101 * ms);
  EXPECT_EQ(place.cpu(), 4);
}

TEST(ServerPlace, IsAnywhereAsSoonAsAnotherSaysAnything) {
  auto place = beside_one();
  place.hear(one);
  EXPECT_EQ(place.cpu(), 3);
  place.hear(other);
  EXPECT_EQ(place.cpu(), anywhere);
}

TEST(ServerPlace, LeavesWithWhoItWasBesideAndIsAtOnceBesideTheNext) {
  auto place = beside_one();
  place.leave();
  EXPECT_EQ(place.cpu(), anywhere);
  place.ask(other, 1, in_time, 11);
  EXPECT_EQ(place.cpu(), 1);
}

TEST(ServerPlace, LeavesWhenNobodyAsks) {
  auto place = beside_one();
  place.look();
  EXPECT_EQ(place.cpu(), 3) << "asked since the look before";
  place.look();
  EXPECT_EQ(place.cpu(), anywhere);
  place.ask(one, 3, in_time, 1);
  EXPECT_EQ(place.cpu(), 3) << "nothing was wrong with it";
}

TEST(ServerPlace, LeavesWhereRequestsAreReadLateForEverLonger) {
  auto place = beside_one();
  ServerPlace::Time now = 0;
  for (ServerPlace::Time const pause : {s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 64 * s}) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(place.cpu(), 3);
      place.ask(one, 3, late, now);
    }
    EXPECT_EQ(place.cpu(), anywhere);
    place.ask(one, 3, in_time, now + pause - 1);
    EXPECT_EQ(place.cpu(), anywhere);
    place.ask(one, 3, in_time, now += pause);
  }
  place.ask(one, 3, in_time, now);
  for (int i = 0; i < 3; ++i) place.ask(one, 3, late, now);
  place.ask(one, 3, in_time, now + s);
  EXPECT_EQ(place.cpu(), 3) << "it was in time once, so the pause is short again";
}

TEST(ServerPlace, ForgivesRequestsThatAreLateNowAndThen) {
  auto place = beside_one();
  for (int i = 0; i < 100; ++i) {
    place.ask(one, 3, late, i);
    place.ask(one, 3, late, i);
    place.ask(one, 3, in_time, i);
  }
  EXPECT_EQ(place.cpu(), 3);
}

TEST(ServerPlace, TriesSeldomWhereTheSystemRefuses) {
  auto place = beside_one();
  place.refuse(0);
  EXPECT_EQ(place.cpu(), anywhere);
  place.ask(other, 1, in_time, s - 1);
  EXPECT_EQ(place.cpu(), anywhere);
  place.ask(other, 1, in_time, s);
  place.refuse(s);
  place.ask(other, 1, in_time, 3 * s - 1);
  EXPECT_EQ(place.cpu(), anywhere);
}

}  // namespace
}  // namespace nigh::policy
