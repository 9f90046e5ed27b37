// SPDX-License-Identifier: Apache-2.0
// Quotas of cpu time and cpusets: what programs of one cgroup hold together.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "stepped_coordinator.hpp"

namespace nigh::coordinator {
namespace {

using test::cpus;
using test::overdue;
using test::slice;

constexpr QuotaGroup box{1, 7}, other{1, 8}, outer{1, 2};

CoordinatorOptions options() {
  CoordinatorOptions o;
  o.slice_us = slice;
  o.idle_slice_us = 300;
  o.overdue_us = overdue;
  o.claims_us = -1;
  o.open_requests = 3;
  return o;
}

// A host of 8 cpus.
class QuotaTest : public test::SteppedCoordinator {
 protected:
  QuotaTest() : SteppedCoordinator({4, 4}, options(), 0) {}

  void join(Connection c, std::vector<QuotaBound> bounds = {}, CpuSet allowed = cpus(0, 8)) {
    step(Received{c, Register{.allowed = allowed}});
    step(Bound{c, std::move(bounds)});
  }
  void ask(Connection c, std::uint32_t threads, LeaseId returned = 0) {
    step(Received{
        c, Request{.ticket = ++ticket_, .demand = {threads, threads}, .returned = returned}});
  }
  void ask_briefly(Connection c, std::uint32_t threads, std::uint32_t patience_us) {
    step(Received{
        c, Request{.ticket = ++ticket_, .demand = {threads, threads}, .patience_us = patience_us}});
  }
  void give_back(Connection c) { step(Received{c, Release{lease_of(c)}}); }
  bool is_revoked(Connection c) const {
    auto const r = last<Revoke>(c);
    return r && r->reason == Revoke::Reason::others_wait;
  }
  LeaseId lease_of(Connection c) const {
    LeaseId newest = 0;
    for (auto const& [id, held] : ledger_.held())
      if (held.by == c) newest = id;
    return newest;
  }

  Ticket ticket_ = 0;
};

TEST_F(QuotaTest, ATeamGetsNoMoreCpusThanTheQuota) {
  join(1, {{box, 3}});
  ask(1, 8);
  EXPECT_EQ(granted(1), 3);
  join(2);
  ask(2, 8);
  EXPECT_EQ(granted(2), 4) << "others have their part, whatever the quota of the first";
}

TEST_F(QuotaTest, ProgramsOfOneGroupShareItsQuota) {
  join(1, {{box, 3}});
  join(2, {{box, 3}});
  ask(1, 2);
  EXPECT_EQ(granted(1), 2);
  ask(2, 2);
  EXPECT_EQ(granted(2), 1);
}

TEST_F(QuotaTest, AnExhaustedQuotaIsWaitedForAndComesInTurns) {
  join(1, {{box, 2}});
  join(2, {{box, 2}});
  ask(1, 8);
  EXPECT_EQ(granted(1), 2);
  ask(2, 8);
  EXPECT_EQ(granted(2), 0) << "6 cpus are free, but not for this group";
  EXPECT_EQ(machine_.waiting(), 1);
  EXPECT_FALSE(is_revoked(1)) << "not before a slice is over";
  after(slice);
  EXPECT_TRUE(is_revoked(1));
  ask(1, 8, lease_of(1));
  EXPECT_EQ(granted(2), 1);
  EXPECT_EQ(granted(1), 1);
  EXPECT_EQ(machine_.waiting(), 0);
}

TEST_F(QuotaTest, WhoWaitsForAQuotaIsInNobodysWay) {
  join(1, {{box, 1}});
  join(2, {{box, 1}});
  join(3);
  ask(1, 4);
  ask(2, 4);
  EXPECT_EQ(granted(2), 0);
  ask(3, 4);
  EXPECT_EQ(granted(3), 4) << "cpus are free for it";
  after(slice);
  EXPECT_TRUE(is_revoked(1));
  EXPECT_FALSE(last<Revoke>(3)) << "its cpus are of no use to the group";
}

TEST_F(QuotaTest, AQuotaIsNotWaitedForForLong) {
  join(1, {{box, 2}}), join(2, {{box, 2}});
  ask(1, 2);
  ask_briefly(2, 2, 100);
  EXPECT_FALSE(last<Unplaced>(2));
  after(100);
  EXPECT_TRUE(last<Unplaced>(2));
  after(slice);
  EXPECT_TRUE(is_revoked(1)) << "room is made for it, though nobody waits";
  give_back(1);
  ask(1, 2);
  EXPECT_EQ(granted(1), 1);
  ask_briefly(2, 2, 1);
  EXPECT_EQ(granted(2), 1);
}

// It is in want from then on, so the parts of all are smaller, and one of the host's queue may be
// content with what is free.
TEST_F(QuotaTest, OneThatWaitsForItsQuotaNoMoreMakesPartsSmaller) {
  join(1, {{box, 5}}), join(2, {{box, 5}}), join(3);
  ask(1, 5);
  EXPECT_EQ(granted(1), 5);
  ask(3, 8);
  EXPECT_EQ(granted(3), 0) << "its part is four, and three are free";
  ask_briefly(2, 1, 100);
  after(100);
  EXPECT_GE(granted(3), 2) << "its part is two";
}

TEST_F(QuotaTest, WhatIsOverdueEndsForOneThatIsAdmittedWhenAnotherGivesUp) {
  join(1), join(2, {{box, 1}}), join(3, {{box, 1}});
  ask(1, 8);
  EXPECT_EQ(granted(1), 8);
  ask_briefly(2, 1, 80'000);
  ask(3, 1);
  after(slice);  // asked back
  after(80'000 - slice);
  EXPECT_EQ(granted(3), 1) << "the other one of its group wants the quota no more";
}

// Its quota leaves the first in line less then, which may be no more than what is free.
TEST_F(QuotaTest, OneThatIsServedBehindTheFirstTakesOfItsQuota) {
  auto hers = cpus(1, 4);
  hers.add(6), hers.add(7);
  join(3, {}, hers);
  ask(3, 5);
  EXPECT_EQ(granted(3), 5);
  join(1, {{box, 4}}, cpus(0, 4)), join(2, {{box, 4}}, cpus(4, 6));
  ask(1, 4), ask(1, 4);
  EXPECT_EQ(machine_.waiting(), 2);
  ask(2, 2);
  EXPECT_EQ(granted(2), 2);
  EXPECT_EQ(granted(1), 1);
}

TEST_F(QuotaTest, TwoGroupsAreTwo) {
  join(1, {{box, 1}});
  join(2, {{other, 2}});
  ask(1, 8);
  ask(2, 8);
  EXPECT_EQ(granted(2), 2);
}

TEST_F(QuotaTest, NestedGroupsBindTogether) {
  join(1, {{box, 2}, {outer, 3}});
  join(2, {{other, 2}, {outer, 3}});
  ask(1, 8);
  EXPECT_EQ(granted(1), 2);
  ask(2, 8);
  EXPECT_EQ(granted(2), 1) << "of the outer group one is left";
}

TEST_F(QuotaTest, AGrowingQuotaIsOffered) {
  join(1, {{box, 1}});
  ask(1, 8);
  EXPECT_EQ(granted(1), 1);
  step(Bound{1, {{box, 4}}});
  after(slice);
  auto const offer = last<Revoke>(1);
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->reason, Revoke::Reason::more_free);
  ask(1, 8, lease_of(1));
  EXPECT_EQ(granted(1), 4);
  for (int i = 0; i < 10; ++i) {
    after(slice);
    EXPECT_FALSE(last<Revoke>(1)) << "there is no more to offer";
  }
}

TEST_F(QuotaTest, AQuotaThatBecomesNothingBindsNoMore) {
  join(1, {{box, 1}});
  join(2, {{box, 1}});
  ask(1, 4);
  ask(2, 4);
  EXPECT_EQ(granted(2), 0);
  step(Bound{2, {}});
  EXPECT_EQ(granted(2), 4);
  step(Bound{1, {}});
  give_back(1);
  ask(1, 4);
  EXPECT_EQ(granted(1), 4);
}

TEST_F(QuotaTest, AShrinkingQuotaIsAskedBackAtOnce) {
  join(1, {{box, 4}});
  ask(1, 4);
  EXPECT_EQ(granted(1), 4);
  step(Bound{1, {{box, 2}}});
  EXPECT_TRUE(is_revoked(1));
  ask(1, 4, lease_of(1));
  EXPECT_EQ(granted(1), 2);
}

TEST_F(QuotaTest, AQuotaComesWhileAProgramRuns) {
  join(1);
  ask(1, 8);
  EXPECT_EQ(granted(1), 8);
  step(Bound{1, {{box, 1}}});
  EXPECT_TRUE(is_revoked(1));
  ask(1, 8, lease_of(1));
  EXPECT_EQ(granted(1), 1);
}

TEST_F(QuotaTest, OddBoundsAreAtLeastOneCpu) {
  join(1, {{box, 0}});
  ask(1, 4);
  EXPECT_EQ(granted(1), 1);
  step(Bound{1, {{box, -5}}});
  give_back(1);
  ask(1, 4);
  EXPECT_EQ(granted(1), 1);
  step(Bound{99, {{box, 1}}});
  step(Allowed{99, cpus(0, 1)});
}

TEST_F(QuotaTest, WhoIsGoneLeavesItsPart) {
  join(1, {{box, 1}});
  join(2, {{box, 1}});
  join(3, {{box, 1}});
  ask(1, 1);
  ask(2, 1);
  ask(3, 1);
  EXPECT_EQ(machine_.waiting(), 2);
  step(Lost{2});
  EXPECT_EQ(machine_.waiting(), 1);
  step(Lost{1});
  EXPECT_EQ(granted(3), 1);
}

TEST_F(QuotaTest, WhatIsNotGivenBackEndsForTheGroupToo) {
  join(1, {{box, 1}});
  join(2, {{box, 1}});
  ask(1, 1);
  ask(2, 1);
  after(slice);
  EXPECT_TRUE(is_revoked(1));
  after(overdue);
  ASSERT_TRUE(last<Revoke>(1));
  EXPECT_EQ(last<Revoke>(1)->reason, Revoke::Reason::ended);
  EXPECT_EQ(granted(2), 1);
}

TEST_F(QuotaTest, AnIdleLeaseIsAskedForEarlier) {
  join(1, {{box, 1}});
  join(2, {{box, 1}});
  ask(1, 1);
  ask(2, 1);
  after(300);
  ASSERT_TRUE(last<Revoke>(1));
  EXPECT_EQ(last<Revoke>(1)->reason, Revoke::Reason::if_idle);
  give_back(1);
  EXPECT_EQ(granted(2), 1);
}

TEST_F(QuotaTest, TheWaitingAreTold) {
  join(1, {{box, 1}});
  join(2, {{box, 1}});
  ask(1, 1);
  ask(2, 3);
  now_ += 10;
  step(Received{99, Query{2}});
  auto const s = last<Status>(99).value();
  EXPECT_EQ(s.waiting, 1u);
  EXPECT_EQ(s.requests, 1u);
  EXPECT_EQ(s.wanted, 3u);
  EXPECT_EQ(s.waiting_us, 10u);
}

TEST_F(QuotaTest, ATicketIsInUseOutsideToo) {
  join(1, {{box, 1}});
  join(2, {{box, 1}});
  ask(1, 1);
  ask(2, 1);
  step(Received{2, Request{.ticket = ticket_, .demand = {1, 1}}});
  ASSERT_TRUE(last<Refusal>(2));
  EXPECT_EQ(last<Refusal>(2)->reason, Refusal::Reason::ticket_in_use);
}

TEST_F(QuotaTest, ACpusetThatShrinksIsObeyed) {
  join(1);
  ask(1, 8);
  EXPECT_EQ(granted(1), 8);
  step(Allowed{1, cpus(2, 5)});
  EXPECT_TRUE(is_revoked(1));
  ask(1, 8, lease_of(1));
  auto const grant = last<Grant>(1).value();
  EXPECT_EQ(grant.team.size(), 3);
  for (int thread = 0; thread < grant.team.size(); ++thread)
    EXPECT_TRUE(cpus(2, 5).has(grant.team[thread]));
  step(Allowed{1, cpus(0, 8)});
  give_back(1);
  ask(1, 8);
  EXPECT_EQ(granted(1), 8);
}

TEST_F(QuotaTest, ACpusetWidensNobodysOwnMask) {
  join(1, {}, cpus(0, 2));
  step(Allowed{1, cpus(0, 8)});
  ask(1, 8);
  EXPECT_EQ(granted(1), 2);
}

// The system moves the threads of a program whose cpus have all gone to those of its cpuset.
TEST_F(QuotaTest, ACpusetWithoutTheProgramsCpusIsWhereItRuns) {
  join(1, {}, cpus(0, 2));
  step(Allowed{1, cpus(4, 6)});
  ask(1, 8);
  auto const grant = last<Grant>(1).value();
  EXPECT_EQ(grant.team.size(), 2);
  EXPECT_TRUE(cpus(4, 6).has(grant.team[0]));
}

TEST_F(QuotaTest, AnEmptiedOrForeignCpusetSaysNothing) {
  join(1, {}, cpus(0, 2));
  step(Allowed{1, {}});
  ask(1, 8);
  EXPECT_EQ(granted(1), 2);
  step(Allowed{1, cpus(500, 600)});
  give_back(1);
  ask(1, 8);
  EXPECT_EQ(granted(1), 2);
}

// Programs of some groups request, give back late or never, and die; quotas and cpusets change.
class QuotaCrowd {
 public:
  explicit QuotaCrowd(std::uint64_t seed) : random_(seed) {}

  void play(int steps) {
    for (int i = 0; i < steps; ++i) {
      auto const later = now_ + below(400);
      for (auto tick = machine_.next_tick(); tick && *tick <= later; tick = machine_.next_tick()) {
        now_ = *tick;
        step(Tick{});
      }
      now_ = later;
      act(1 + static_cast<Connection>(below(7)));
    }
    for (int ticks = 0; machine_.waiting() > 0; ++ticks) {
      ASSERT_LT(ticks, 10'000);
      ASSERT_TRUE(machine_.next_tick()) << "somebody waits for nothing";
      now_ = *machine_.next_tick();
      step(Tick{});
    }
  }
  long served = 0;

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::vector<QuotaBound> some_bounds() {
    std::vector<QuotaBound> bounds;
    if (below(4) > 0) bounds.push_back({{0, 1 + static_cast<std::uint64_t>(below(2))}, limit_});
    if (below(3) == 0) bounds.push_back({{9, 9}, 1 + limit_});
    return bounds;
  }
  void act(Connection c) {
    if (!ledger_.is_alive(c)) {
      Register m;
      for (int cpu = 0; cpu < 8; ++cpu)
        if (below(4) > 0) m.allowed.add(cpu);
      m.allowed.add(below(8));
      step(Received{c, m});
      return step(Bound{c, some_bounds()});
    }
    std::vector<LeaseId> mine;
    for (auto const& [id, held] : ledger_.held())
      if (held.by == c) mine.push_back(id);
    int const what = below(100);
    if (what < 2) return step(Lost{c});
    if (what < 5) limit_ = 1 + below(4);
    if (what < 8) return step(Bound{c, some_bounds()});
    if (what < 10) return step(Allowed{c, cpus(below(4), 4 + below(5))});
    if (what < 45 && !mine.empty()) return step(Received{c, Release{mine[0]}});
    auto const maximum = 1 + static_cast<std::uint32_t>(below(10));
    Request m{.ticket = ++ticket_, .demand = {maximum, 1 + maximum / 2}};
    if (!mine.empty() && below(2) == 0) m.returned = mine[0];
    step(Received{c, m});
  }
  void step(Event const& event) {
    ledger_.note(event);
    auto const sent = machine_.step(event, now_);
    machine_.check();
    ledger_.note(event, sent);
    for (Send const& s : sent)
      if (std::holds_alternative<Grant>(s.message)) ++served;
  }

  std::mt19937_64 random_;
  Coordinator machine_{test::small_machine({4, 4}), options(), 0};
  test::Ledger ledger_;
  int limit_ = 2;
  Time now_ = 0;
  Ticket ticket_ = 0;
};

TEST(Quotas, NobodyWaitsForEverInAnyOrderOfEvents) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    QuotaCrowd crowd(seed);
    ASSERT_NO_THROW(crowd.play(1500));
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    EXPECT_GT(crowd.served, 100);
  }
}

}  // namespace
}  // namespace nigh::coordinator
