// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "coordinator/server/traffic.hpp"

namespace nigh::coordinator {
namespace {

constexpr unsigned first_user = 1, second_user = 2;
constexpr Time a_second = 1'000'000;

TrafficOptions slow() {
  return {.of_connection = {1'000, 10},
          .of_user = {2'000, 50},
          .limits_users = true,
          .connections = {64, 2},
          .messages_to_come = 5};
}

TEST(Traffic, OfAConnectionThatFloodsIsReadLater) {
  Traffic traffic(slow());
  traffic.come(first_user, 1, 0);
  traffic.come(first_user, 2, 0);
  int read = 0;
  while (traffic.may_read(first_user, 1, 0)) ++read;
  EXPECT_EQ(read, 10);
  EXPECT_TRUE(traffic.may_read(first_user, 2, 0)) << "another one is read meanwhile";
  ASSERT_EQ(traffic.next_time(), 1'000);
  EXPECT_FALSE(traffic.next_to_read(999));
  EXPECT_EQ(traffic.next_to_read(1'000), 1u);
  EXPECT_TRUE(traffic.may_read(first_user, 1, 1'000));
}

// All connections of a user together have its rate, each its turn, and another user all of its own.
TEST(Traffic, OfAUserIsReadInTurn) {
  Traffic traffic(slow());
  std::map<Connection, int> read;
  std::set<Connection> ready;  // there is always more to read
  for (Connection c = 1; c <= 20; ++c) traffic.come(first_user, c, 0), ready.insert(c);
  traffic.come(second_user, 99, 0);
  for (Time now = a_second; now < 2 * a_second; now += 100) {
    while (auto const c = traffic.next_to_read(now)) {
      if (traffic.may_read(first_user, *c, now)) ++read[*c], ready.insert(*c);
    }
    while (!ready.empty())
      std::erase_if(ready, [&](Connection c) {
        if (!traffic.may_read(first_user, c, now)) return true;
        ++read[c];
        return false;
      });
    if (now % 1'000 == 0 && traffic.may_read(second_user, 99, now)) ++read[99];
  }
  int all = 0;
  for (auto const& [c, n] : read)
    if (c != 99) all += n;
  EXPECT_LE(all, 2'051);
  EXPECT_GE(all, 1'900);
  for (Connection c = 1; c <= 20; ++c) EXPECT_NEAR(read[c], all / 20, 12) << c;
  EXPECT_EQ(read[99], 1'000) << "it is never limited";
}

// Of two users with throttled connections each is read in turn, however many connections one has.
TEST(Traffic, OfThrottledUsersIsReadRoundRobin) {
  Traffic traffic(slow());
  auto const throttle = [&](unsigned user, Connection first, Connection count) {
    for (Connection c = first; c < first + count; ++c) {
      traffic.come(user, c, 0);
      traffic.read_again(user, c, a_second);
    }
  };
  throttle(first_user, 1, 20);
  throttle(second_user, 100, 2);
  for (int n = 0; n < 16; ++n) {
    auto const c = traffic.next_to_read(a_second);
    ASSERT_TRUE(c);
    unsigned const user = *c < 100 ? first_user : second_user;
    EXPECT_EQ(user, n % 2 == 0 ? first_user : second_user) << n;
    ASSERT_TRUE(traffic.may_read(user, *c, a_second));
    traffic.read_again(user, *c, a_second);
  }
}

TEST(Traffic, ThatHadNothingHasNothingToPay) {
  Traffic traffic(slow());
  traffic.come(first_user, 1, 0);
  for (int n = 0; n < 100; ++n) {
    ASSERT_TRUE(traffic.may_read(first_user, 1, 0));
    traffic.had_nothing(first_user, 1, 0);
  }
}

TEST(Traffic, ThatHasGoneIsForgotten) {
  Traffic traffic(slow());
  traffic.come(first_user, 1, 0);
  while (traffic.may_read(first_user, 1, 0)) {
  }
  traffic.leave(first_user, 1);
  EXPECT_EQ(traffic.next_to_read(a_second), 1u) << "whoever asks knows that it is gone";
  EXPECT_FALSE(traffic.next_time());
}

TEST(Traffic, LeavesRoomForTheNextUser) {
  Traffic traffic(slow());
  std::size_t all = 0;
  Connection next = 0;
  for (unsigned user = 1; user <= 4; ++user)
    while (traffic.has_room_for(user, all)) traffic.come(user, ++next, 0), ++all;
  EXPECT_EQ(all, 32u + 16 + 8 + 4);
  EXPECT_TRUE(traffic.has_room_for(5, all));
}

TEST(Traffic, OfOneUserHasNoLimitButThatOfConnections) {
  auto options = slow();
  options.limits_users = false;
  Traffic traffic(options);
  for (Connection c = 1; c <= 64; ++c) {
    ASSERT_TRUE(traffic.has_room_for(first_user, c - 1));
    traffic.come(first_user, c, 0);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(traffic.may_read(first_user, c, 0));
  }
  EXPECT_FALSE(traffic.has_room_for(first_user, 64));
}

}  // namespace
}  // namespace nigh::coordinator
