// SPDX-License-Identifier: Apache-2.0
// Several users: what one of them does, or does not do, keeps no other one from its part.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "coordinator/core/coordinator.hpp"
#include "coordinator_ledger.hpp"
#include "policy/cpus/lease_patience.hpp"

namespace nigh::coordinator {
namespace {

constexpr std::uint32_t hostile = 1001, victims = 1002;
constexpr Time second = 1'000'000, a_day = 86'400 * second;

// A host of four cpus and the coordinator as nighd runs it.
class Users : public testing::Test {
 protected:
  Connection join(std::uint32_t user, std::vector<int> cpus = {0, 1, 2, 3}) {
    auto const c = ++last_;
    Register m{.name = Name("p")};
    for (int cpu : cpus) m.allowed.add(cpu);
    step(Received{c, m, user});
    return c;
  }
  void ask(Connection c, std::uint32_t threads, Ticket ticket, Time patience = 0) {
    step(Received{c, Request{.region = 1,
                             .ticket = ticket,
                             .demand = {threads, threads},
                             .patience_us = static_cast<std::uint32_t>(patience)}});
  }
  void step(Event const& event) {
    auto const sent = machine_.step(event, now_);
    machine_.check();
    for (Send const& s : sent) {
      ++answers_[s.to];
      if (auto const* g = std::get_if<Grant>(&s.message)) {
        leases_[s.to][g->lease] = g->team.size();
        unplaced_[s.to] = false;
        order_.push_back(s.to);
      }
      if (std::holds_alternative<Unplaced>(s.message)) unplaced_[s.to] = true;
      if (auto const* r = std::get_if<Revoke>(&s.message)) {
        if (r->reason == Revoke::Reason::ended) leases_[s.to].erase(r->lease), ++ended_;
        if (r->reason == Revoke::Reason::others_wait) asked_back_[s.to] = r->lease;
      }
      if (auto const* r = std::get_if<Refusal>(&s.message)) refused_[s.to] = r->reason;
    }
  }
  void until(Time later) {
    for (auto tick = machine_.next_tick(); tick && *tick <= later; tick = machine_.next_tick()) {
      now_ = *tick;
      step(Tick{});
    }
    now_ = later;
  }
  int cpus_of(Connection c) {
    int cpus = 0;
    for (auto const& [id, size] : leases_[c]) cpus += size;
    return cpus;
  }
  void give_back(Connection c) {
    auto const leases = std::exchange(leases_[c], {});
    for (auto const& [id, size] : leases) step(Received{c, Release{id}});
  }

  // A program with a region of a millisecond after the other, which asks as the client does.
  struct Victim {
    Connection connection = 0;
    Ticket ticket = 0;
    Time first_answer_us = -1, share_us = -1;
  };
  void play(Victim& v, Time for_us, int share) {
    policy::LeasePatience patience;
    auto const start = now_;
    while (now_ < start + for_us) {
      if (cpus_of(v.connection) == 0) {
        auto const wait = patience.at(now_);
        if (wait != policy::LeasePatience::not_now) {
          auto const asked = now_;
          auto const answers = answers_[v.connection];
          ask(v.connection, 4, ++v.ticket, wait);
          while (answers_[v.connection] == answers) until(std::min(*machine_.next_tick(), a_day));
          if (v.first_answer_us < 0) v.first_answer_us = now_ - asked;
          if (cpus_of(v.connection) == 0) patience.spend(now_ - asked, now_);
        }
      }
      if (v.share_us < 0 && cpus_of(v.connection) >= share) v.share_us = now_ - start;
      until(now_ + 1'000);
    }
  }

  Time now_ = 10 * second;
  CoordinatorOptions options_{};
  Coordinator machine_{test::small_machine({4}), options_, 0};
  Connection last_ = 0;
  int ended_ = 0;
  std::map<Connection, std::map<LeaseId, int>> leases_;
  std::map<Connection, bool> unplaced_;
  std::map<Connection, int> answers_;
  std::map<Connection, LeaseId> asked_back_;
  std::map<Connection, Refusal::Reason> refused_;
  std::vector<Connection> order_;  // of those who were served
};

TEST_F(Users, OneThatGivesNothingBackKeepsNoOtherFromItsPart) {
  std::vector<Connection> theirs;
  for (int i = 0; i < 40; ++i) theirs.push_back(join(hostile));
  for (Ticket t = 1; t <= 60; ++t)
    for (auto const c : theirs) ask(c, 2, t);
  EXPECT_GT(machine_.waiting(), 2'000);
  Victim victim{join(victims)};
  play(victim, 2 * second, 2);
  EXPECT_GE(victim.first_answer_us, 0);
  EXPECT_LE(victim.first_answer_us, 100'000) << "it runs on shared cpus after that";
  ASSERT_GE(victim.share_us, 0) << "it never gets its part";
  EXPECT_LE(victim.share_us, second);
  EXPECT_EQ(cpus_of(victim.connection), 2);
  until(now_ + 20 * second);
  EXPECT_EQ(cpus_of(victim.connection), 2) << "nor is it asked for what is its part";
  EXPECT_EQ(asked_back_.count(victim.connection), 0u);
}

// Some of its programs have always been left without cpus a moment ago.
TEST_F(Users, OneWithManyImpatientRequestsKeepsNothingFromOneThatHasWaitedLonger) {
  auto const holder = join(hostile, {0});
  ask(holder, 1, 1);
  ASSERT_EQ(cpus_of(holder), 1);
  std::vector<Connection> theirs;
  for (int i = 0; i < 4; ++i) theirs.push_back(join(hostile, {0}));
  auto const victim = join(victims, {0});
  ask(victim, 1, 1, 40'000);
  for (Ticket t = 1; t <= 20; ++t) {
    for (auto const c : theirs) ask(c, 1, t, 500);
    until(now_ + 1'000);
  }
  for (auto const c : theirs) EXPECT_TRUE(unplaced_[c]);
  give_back(holder);
  EXPECT_EQ(cpus_of(victim), 1);
}

// Each of them got nothing a moment ago: the first that did finds the cpu when it asks again.
TEST_F(Users, ProgramsThatGotNothingKeepNothingFromEachOther) {
  auto const holder = join(victims, {0});
  ask(holder, 1, 1);
  std::vector<Connection> theirs;
  for (int i = 0; i < 3; ++i) theirs.push_back(join(victims, {0}));
  for (auto const c : theirs) {
    ask(c, 1, 1, 500);
    until(now_ + 1'000);
    EXPECT_TRUE(unplaced_[c]);
  }
  give_back(holder);
  ask(theirs[1], 1, 2, 500);
  EXPECT_EQ(cpus_of(theirs[1]), 0) << "it is kept for the first";
  ask(theirs[0], 1, 2, 500);
  EXPECT_EQ(cpus_of(theirs[0]), 1);
}

TEST_F(Users, OneThatGotNothingFindsWhatOneThatHadCpusGivesBack) {
  auto const theirs = join(hostile, {0}), mine = join(victims, {0});
  ask(theirs, 1, 1);
  ask(mine, 1, 1, 1'000);
  until(now_ + 2'000);
  EXPECT_TRUE(unplaced_[mine]);
  give_back(theirs);
  ask(theirs, 1, 2, 50'000);
  EXPECT_EQ(cpus_of(theirs), 0) << "it is kept";
  ask(mine, 1, 2, 1'000);
  EXPECT_EQ(cpus_of(mine), 1);
}

// Not only from requests that end: else whoever waits for ever would have each cpu that comes back.
TEST_F(Users, OneThatGotNothingFindsWhatComesBackBeforeOneThatWaitsForEver) {
  auto const theirs = join(hostile, {0}), others = join(hostile, {0}), mine = join(victims, {0});
  ask(theirs, 1, 1);
  ask(mine, 1, 1, 1'000);
  until(now_ + 2'000);
  EXPECT_TRUE(unplaced_[mine]);
  ask(others, 1, 1);
  give_back(theirs);
  EXPECT_EQ(cpus_of(others), 0) << "it is kept";
  ask(mine, 1, 2, 1'000);
  EXPECT_EQ(cpus_of(mine), 1);
  give_back(mine);
  EXPECT_EQ(cpus_of(others), 1);
}

// Between its regions a program gives its cpus back, and finds them again.
TEST_F(Users, OneThatGivesNothingBackTakesNoOthersPartBetweenItsRegions) {
  auto const theirs = join(hostile), mine = join(victims);
  for (Ticket t = 1; t <= 60; ++t) ask(theirs, 4, t);
  int without = 0;
  for (Ticket t = 1; t <= 400; ++t) {
    ask(mine, 4, t, 100'000);
    until(now_ + 100'000);
    if (cpus_of(mine) == 0 && t > 20) ++without;
    give_back(mine);
    until(now_ + 1'000);
  }
  EXPECT_LE(without, 40) << "a tenth of the time";
}

TEST_F(Users, ThatOneIsNotLockedOutForGood) {
  auto const theirs = join(hostile), mine = join(victims);
  ask(theirs, 4, 1);
  EXPECT_EQ(cpus_of(theirs), 4);
  ask(mine, 4, 1, 10 * second);
  until(now_ + second / 2);
  EXPECT_EQ(ended_, 1);
  EXPECT_GE(cpus_of(mine), 2);
  give_back(mine);
  ask(theirs, 4, 2);
  EXPECT_EQ(cpus_of(theirs), 2) << "the other one is expected for a while";
  until(now_ + 2 * second);
  ask(theirs, 4, 3);
  EXPECT_EQ(cpus_of(theirs), 4) << "nobody else wants any";
  ask(mine, 4, 2);
  until(now_ + second);
  EXPECT_EQ(cpus_of(mine), 2);
  EXPECT_EQ(cpus_of(theirs), 2);
}

// It has had it for so long that it may never come back, and need not, being all that its user has.
TEST_F(Users, OneThatKeepsItsPartDoesNotSpareOneThatHasMore) {
  std::uint32_t const stopped = 1003;
  std::vector<Connection> const silent{join(stopped, {0}), join(stopped, {1})};
  for (auto const c : silent) ask(c, 1, 1);
  auto const big = join(hostile, {2});
  ask(big, 1, 1);
  auto const victim = join(victims, {0, 1, 2});
  ask(victim, 1, 1, 1'000);
  until(now_ + 200'000);
  ASSERT_EQ(asked_back_.count(silent[0]) + asked_back_.count(silent[1]), 1u);
  ASSERT_EQ(asked_back_.count(big), 0u);
  bool const is_first = asked_back_.count(silent[0]) > 0;
  give_back(silent[is_first ? 1 : 0]);
  until(now_ + second);  // nothing is kept for the victim any more
  auto const bigger = join(hostile, {is_first ? 1 : 0});
  ask(bigger, 1, 1);
  ASSERT_EQ(cpus_of(bigger), 1);
  asked_back_.clear();
  ask(victim, 1, 2, 10'000);
  until(now_ + 150'000);
  EXPECT_TRUE(unplaced_[victim]);
  EXPECT_GT(asked_back_.count(big) + asked_back_.count(bigger), 0u);
}

TEST_F(Users, TheirRequestsAreServedInTurn) {
  auto const one = join(hostile), other = join(hostile), mine = join(victims);
  ask(mine, 4, 1);
  for (Ticket t = 1; t <= 5; ++t) ask(one, 4, t);
  ask(other, 4, 1);
  auto const third = join(victims + 1);
  ask(third, 4, 1);
  order_.clear();
  for (int turn = 0; turn < 7; ++turn) {
    now_ += 1'000;
    for (auto const c : {one, other, mine, third}) give_back(c);
  }
  ASSERT_EQ(order_.size(), 7u);
  EXPECT_EQ(order_[0], one) << "it came first";
  EXPECT_EQ(order_[1], third) << "another user's first request is before its second";
  EXPECT_EQ(order_[2], other) << "and so is another program's";
}

TEST_F(Users, OnesManyRequestsDelayAnotherByOneTurn) {
  auto const greedy = join(hostile), mine = join(hostile);
  for (Ticket t = 1; t <= 60; ++t) ask(greedy, 4, t);
  ask(mine, 4, 1);
  order_.clear();
  give_back(greedy);
  give_back(greedy);
  ASSERT_GE(order_.size(), 2u);
  EXPECT_EQ(order_[1], mine);
}

TEST_F(Users, OneWithOtherCpusIsNotHeldUp) {
  auto const theirs = join(hostile, {0}), mine = join(victims, {1});
  for (Ticket t = 1; t <= 60; ++t) ask(theirs, 1, t);
  ask(mine, 1, 1);
  EXPECT_EQ(cpus_of(mine), 1);
}

// Each may have at most half of what others leave.
TEST_F(Users, FourLeaveAFifthRoomToWait) {
  options_.requests = {1'024, 8};
  machine_ = Coordinator(test::small_machine({4}), options_, 0);
  for (std::uint32_t user = 1; user <= 4; ++user)
    for (int p = 0; p < 8; ++p) {
      auto const c = join(user);
      for (Ticket t = 1; t <= 64; ++t) ask(c, 4, t);
    }
  auto const fifth = join(5);
  for (Ticket t = 1; t <= 16; ++t) ask(fifth, 4, t);
  EXPECT_FALSE(refused_.contains(fifth));
  EXPECT_LT(machine_.waiting(), 1'024);
  EXPECT_EQ(refused_.size(), 4u * 8 - 8 - 4 - 2 - 1) << "a half, a quarter, and so on";
}

TEST_F(Users, WhoBacksOffStandsBehindOthers) {
  auto const slow = join(hostile), second_one = join(hostile), third = join(hostile);
  ask(slow, 4, 1);
  ask(second_one, 4, 1);
  until(now_ + 10 * second + second / 10);  // no other user waits: it takes the full ten seconds
  EXPECT_EQ(ended_, 1);
  EXPECT_GT(cpus_of(second_one), 0);
  ask(slow, 4, 2);
  ask(third, 4, 1);
  order_.clear();
  give_back(second_one);
  ASSERT_FALSE(order_.empty());
  EXPECT_EQ(order_[0], third);
}

}  // namespace
}  // namespace nigh::coordinator
