// SPDX-License-Identifier: Apache-2.0
// The coordinator's state machine: what each message does, and that no program gets cpus of
// another.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "stepped_coordinator.hpp"

namespace nigh::coordinator {
namespace {

using test::cpus;
using test::overdue;
using test::slice;

constexpr Time shortest_slice = 100, idle_slice = 300, claims = 100;

// A coordinator of 2 x 4 cpus unless told otherwise, and what it sends.
class CoordinatorTest : public test::SteppedCoordinator {
 protected:
  explicit CoordinatorTest(std::vector<int> sets = {4, 4}, Time rest_us = 1'000'000'000)
      : SteppedCoordinator(std::move(sets), options(rest_us), 1'000'000) {}

  std::vector<Send> from(Connection c, ProgramMessage message) {
    return step(Received{c, std::move(message)});
  }
  void join(Connection c, CpuSet allowed = cpus(0, 100)) {
    from(c, Register{.pid = static_cast<std::uint32_t>(c), .name = Name("p"), .allowed = allowed});
    ASSERT_TRUE(last<Welcome>(c)) << "has joined";
  }
  std::optional<Refusal::Reason> refused(Connection c) const {
    auto const r = last<Refusal>(c);
    return r ? std::optional(r->reason) : std::nullopt;
  }
  static Request wants(std::uint32_t threads, Ticket ticket = 1, LeaseId returned = 0) {
    return {.region = 7, .ticket = ticket, .demand = {threads, threads}, .returned = returned};
  }

  static CoordinatorOptions options(Time rest_us) {
    CoordinatorOptions o;
    o.rest_us = rest_us;
    o.return_us = slice;
    o.shortest_slice_us = shortest_slice;
    o.allocation.how = policy::CoreAllocation::clustered;
    o.slice_us = slice;
    o.idle_slice_us = idle_slice;
    o.overdue_us = overdue;
    o.claims_us = claims;
    o.programs = 4;
    o.open_requests = 4;
    return o;
  }
};

TEST_F(CoordinatorTest, GrantsCpusAroundTheRequester) {
  join(1);
  auto request = wants(4, 5);
  request.place = 6;
  from(1, request);
  auto const grant = last<Grant>(1);
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->ticket, 5u);
  EXPECT_EQ(grant->wanted, 4u);
  EXPECT_EQ(grant->team, CpuTeam(std::vector<int>{6, 7, 4, 5}));
  EXPECT_EQ(machine_.free().count(), 4);
}

TEST_F(CoordinatorTest, PlacesARankFromItsHome) {
  for (Connection const c : {1u, 2u}) {
    Register hello{.pid = 0, .name = Name("rank"), .allowed = cpus(0, 100)};
    hello.rank = {.job = 9, .rank = static_cast<std::uint32_t>(c - 1), .ranks = 2};
    from(c, hello);
  }
  auto request = wants(4, 5);
  request.place = 0;  // where the leaders of both happen to run
  from(2, request);
  EXPECT_EQ(last<Grant>(2)->team, CpuTeam(std::vector<int>{4, 5, 6, 7}));
  from(1, request);
  EXPECT_EQ(last<Grant>(1)->team, CpuTeam(std::vector<int>{0, 1, 2, 3}));
}

TEST_F(CoordinatorTest, KnowsNobodyWhoHasNotJoined) {
  for (ProgramMessage const& m :
       {ProgramMessage{wants(2, 9)}, ProgramMessage{Release{1}}, ProgramMessage{Report{1, 1, 1}},
        ProgramMessage{Claim{.ticket = 9, .team = CpuTeam(std::vector<int>{0})}}}) {
    from(1, m);
    EXPECT_EQ(refused(1), Refusal::Reason::not_registered);
  }
  join(1);
  from(1, Register{.allowed = cpus(0, 1)});
  EXPECT_EQ(refused(1), Refusal::Reason::already_registered);
  from(2, Register{.allowed = cpus(500, 501)});
  EXPECT_EQ(refused(2), Refusal::Reason::no_cpus);
  join(3), join(4), join(6);
  from(5, Register{.allowed = cpus(0, 1)});
  EXPECT_EQ(refused(5), Refusal::Reason::too_many_programs);
}

TEST_F(CoordinatorTest, SharesWhatOneHadForItself) {
  join(1), join(2);
  from(1, wants(8));
  auto const all = last<Grant>(1)->lease;
  EXPECT_EQ(granted(1), 8);
  from(2, wants(8));
  EXPECT_EQ(granted(2), 0);
  ASSERT_TRUE(last<Revoke>(1)) << "it has more than its part";
  EXPECT_EQ(last<Revoke>(1)->lease, all);
  EXPECT_EQ(last<Revoke>(1)->reason, Revoke::Reason::others_wait);
  from(1, wants(8, 2, all));  // at the border of its region, one message
  EXPECT_EQ(granted(1), 4);
  EXPECT_EQ(granted(2), 4);
  EXPECT_EQ(machine_.waiting(), 0);
  EXPECT_TRUE(after(100 * slice).empty()) << "and both keep them without a message";
}

TEST_F(CoordinatorTest, AsksForWhatIsIdleBeforeItsSliceHasPassed) {
  join(1, cpus(0, 1)), join(2, cpus(0, 1));
  from(1, wants(8));
  from(2, wants(8));
  EXPECT_FALSE(last<Revoke>(1)) << "its slice has just begun";
  EXPECT_EQ(machine_.next_tick(), now_ + idle_slice);
  after(idle_slice);
  ASSERT_TRUE(last<Revoke>(1));
  EXPECT_EQ(last<Revoke>(1)->reason, Revoke::Reason::if_idle);
  EXPECT_TRUE(after(idle_slice - 1).empty()) << "it was not idle";
  EXPECT_FALSE(after(1).empty()) << "asked again";
  after(slice - 2 * idle_slice);
  EXPECT_EQ(last<Revoke>(1)->reason, Revoke::Reason::others_wait);
  EXPECT_TRUE(after(idle_slice).empty()) << "that is on its way";
}

// The other one had all cpus for a moment, while the first one was between two regions.
TEST_F(CoordinatorTest, LeavesItsPartToOneThatIsExpectedAgain) {
  join(1), join(2);
  from(1, wants(8));
  auto const lease = last<Grant>(1)->lease;
  from(2, wants(8));
  from(1, Release{lease});
  EXPECT_EQ(granted(2), 4);
  from(1, wants(8, 2));
  EXPECT_EQ(granted(1), 4);
  EXPECT_TRUE(after(10 * slice).empty()) << "nobody takes turns";
}

TEST_F(CoordinatorTest, ExpectsNobodyForLong) {
  join(1), join(2);
  from(1, wants(8));
  auto const lease = last<Grant>(1)->lease;
  from(2, wants(8));
  from(1, Release{lease});
  auto const small = last<Grant>(2)->lease;
  for (int ticks = 0; machine_.next_tick() && !last<Revoke>(2) && ticks < 5; ++ticks)
    after(*machine_.next_tick() - now_);
  ASSERT_TRUE(last<Revoke>(2));
  EXPECT_EQ(last<Revoke>(2)->reason, Revoke::Reason::more_free);
  from(2, wants(8, 2, small));
  EXPECT_EQ(granted(2), 8);
}

// Its cpus stay free: nobody is about to ask for them.
TEST_F(CoordinatorTest, OffersTheCpusOfAProgramThatHasEndedSoon) {
  join(1), join(2), join(3);
  from(1, wants(4));
  from(2, wants(8));
  EXPECT_EQ(granted(2), 4);
  auto const small = last<Grant>(2)->lease;
  step(Lost{3});
  EXPECT_FALSE(last<Revoke>(2)) << "it had none";
  step(Lost{1});
  EXPECT_FALSE(last<Revoke>(2)) << "at once would be too early";
  after(*machine_.next_tick() - now_);
  ASSERT_TRUE(last<Revoke>(2)) << "at the next tick";
  EXPECT_EQ(last<Revoke>(2)->reason, Revoke::Reason::more_free);
  EXPECT_LE(now_, 1'000'000 + shortest_slice);
  from(2, wants(8, 2, small));
  EXPECT_EQ(granted(2), 8);
}

// Two threads of one program that begin regions are like two programs.
TEST_F(CoordinatorTest, SharesAProgramsPartAmongItsMasters) {
  join(1);
  from(1, wants(8, 1));
  auto const all = last<Grant>(1)->lease;
  from(1, wants(8, 2));
  ASSERT_TRUE(last<Revoke>(1));
  EXPECT_EQ(last<Revoke>(1)->lease, all);
  from(1, Release{all});
  EXPECT_EQ(granted(1), 4);
  from(1, wants(8, 3));
  EXPECT_EQ(granted(1), 4);
  EXPECT_TRUE(after(10 * slice).empty());
}

class Resting : public CoordinatorTest {
 protected:
  Resting() : CoordinatorTest({4, 4}, idle_slice) {}
};

TEST_F(Resting, LeasesAreAskedForWhileOthersHaveFewCpus) {
  join(1), join(2);
  from(1, wants(4));
  from(2, wants(4));
  auto const lease = last<Grant>(2)->lease;
  EXPECT_TRUE(after(10 * idle_slice).empty()) << "they have all that they can use";
  from(2, wants(8, 2, lease));
  after(idle_slice);
  ASSERT_TRUE(last<Revoke>(1));
  EXPECT_EQ(last<Revoke>(1)->reason, Revoke::Reason::if_rested);
  EXPECT_EQ(machine_.next_tick(), now_ + idle_slice);
  EXPECT_FALSE(after(idle_slice).empty()) << "asked again";
}

TEST_F(CoordinatorTest, AsksForNoMoreThanIsLackingBeforeASliceHasPassed) {
  join(1), join(2), join(3);
  from(1, wants(4));
  from(2, wants(4));
  after(slice);
  from(3, wants(2));
  EXPECT_TRUE(last<Revoke>(1));
  EXPECT_FALSE(last<Revoke>(2));
  EXPECT_TRUE(after(slice - 1).empty()) << "what comes back from 1 is enough";
  after(1);
  EXPECT_TRUE(last<Revoke>(2)) << "but it does not come";
}

// With its half a slice away, a region does not begin with the one cpu that is free.
TEST_F(CoordinatorTest, BeginsWithItsEqualPartOrWaits) {
  join(1), join(2);
  from(1, wants(7));
  auto const lease = last<Grant>(1)->lease;
  from(2, wants(8));
  EXPECT_EQ(granted(2), 0);
  from(1, wants(7, 2, lease));
  EXPECT_EQ(granted(1), 4);
  EXPECT_EQ(granted(2), 4);
  from(2, wants(1, 3));
  EXPECT_EQ(machine_.waiting(), 1) << "who has its part waits for more like everybody";
}

TEST_F(CoordinatorTest, AsksOldLeasesBackAtOnce) {
  join(1), join(2);
  from(1, wants(8));
  after(slice);
  from(2, wants(2));
  EXPECT_TRUE(last<Revoke>(1));
}

TEST_F(CoordinatorTest, TheDeadHoldNothing) {
  join(1), join(2);
  from(1, wants(8));
  from(2, wants(3));
  from(1, wants(1, 2));
  step(Lost{1});
  EXPECT_EQ(granted(2), 3);
  EXPECT_EQ(machine_.programs(), 1);
  EXPECT_EQ(machine_.waiting(), 0);
  EXPECT_EQ(machine_.free().count(), 5);
  step(Lost{1});
  step(Lost{77});
  step(Lost{2});
  EXPECT_EQ(machine_.free().count(), 8);
}

TEST_F(CoordinatorTest, NobodyTouchesOthersLeases) {
  join(1), join(2);
  from(1, wants(8));
  auto const lease = last<Grant>(1)->lease;
  from(2, Release{lease});
  EXPECT_EQ(refused(2), Refusal::Reason::not_its_lease);
  from(2, wants(2, 3, lease));
  EXPECT_EQ(refused(2), Refusal::Reason::not_its_lease);
  EXPECT_EQ(last<Refusal>(2)->ticket, 3u);
  EXPECT_EQ(machine_.free().count(), 0);
  from(2, Release{lease + 1});
  EXPECT_FALSE(refused(2)) << "that may have ended a moment ago";
  from(1, Release{lease});
  from(1, Release{lease});
  EXPECT_EQ(machine_.free().count(), 8);
}

TEST_F(CoordinatorTest, RequestsOfAProgramAreBounded) {
  join(1);
  from(1, wants(8, 1));
  from(1, wants(8, 2));
  from(1, wants(8, 2));
  EXPECT_EQ(refused(1), Refusal::Reason::ticket_in_use);
  from(1, wants(8, 3));
  from(1, wants(8, 4));
  from(1, wants(8, 5));
  EXPECT_EQ(refused(1), Refusal::Reason::too_many_requests);
  from(1, wants(8, 5, 1));
  EXPECT_FALSE(refused(1)) << "one for another";
}

TEST_F(CoordinatorTest, GivesOnlyCpusThatAProgramMayUse) {
  join(1, cpus(2, 4)), join(2);
  from(1, wants(8));
  EXPECT_EQ(last<Grant>(1)->team.size(), 2);
  from(2, wants(8));
  EXPECT_EQ(granted(2), 6);
}

// 1 may use only cpus that 2 has; 3 gets others meanwhile, and not those 1 waits for.
TEST_F(CoordinatorTest, NobodyIsOvertaken) {
  join(1, cpus(0, 2)), join(2), join(3);
  from(2, wants(4));
  auto const lease = last<Grant>(2)->lease;
  from(1, wants(2));
  EXPECT_EQ(machine_.waiting(), 1);
  from(3, wants(8));
  EXPECT_EQ(granted(3), 4);
  from(3, wants(8, 2));
  from(2, Release{lease});
  EXPECT_EQ(granted(1), 2);
  EXPECT_EQ(granted(3), 1) << "2 was asked for its cpus, and is expected again";
}

TEST_F(CoordinatorTest, WhatIsNotGivenBackEnds) {
  join(1), join(2);
  from(1, wants(8));
  auto const lease = last<Grant>(1)->lease;
  from(2, wants(8));
  EXPECT_TRUE(last<Revoke>(1));
  after(slice);
  EXPECT_EQ(machine_.next_tick(), now_ + overdue - slice);
  after(overdue - slice - 1);
  EXPECT_EQ(granted(2), 0);
  after(1);
  EXPECT_EQ(granted(2), 8);
  EXPECT_EQ(last<Revoke>(1)->reason, Revoke::Reason::ended);
  from(1, wants(1, 2, lease));
  EXPECT_FALSE(refused(1)) << "it could not know";
}

// They share a cpu that they are bound to, and could use no other.
TEST_F(CoordinatorTest, OffersWhatThoseWhoWaitMayNotUse) {
  join(1), join(2), join(3, cpus(0, 1)), join(4, cpus(0, 1));
  from(3, wants(1));
  from(4, wants(1));
  EXPECT_EQ(granted(4), 0);
  from(1, wants(4));
  from(2, wants(8));
  EXPECT_LT(granted(2), 7);
  auto const small = last<Grant>(2)->lease;
  step(Lost{1});
  for (int ticks = 0; machine_.next_tick() && !last<Revoke>(2) && ticks < 20; ++ticks)
    after(*machine_.next_tick() - now_);
  ASSERT_TRUE(last<Revoke>(2));
  EXPECT_EQ(last<Revoke>(2)->reason, Revoke::Reason::more_free);
  from(2, wants(8, 2, small));
  EXPECT_EQ(granted(2), 7);
}

TEST_F(CoordinatorTest, OffersMoreWhenCpusStayFree) {
  join(1), join(2);
  from(1, wants(4));
  from(2, wants(8));
  EXPECT_EQ(granted(2), 4);
  auto const small = last<Grant>(2)->lease;
  step(Lost{1});
  EXPECT_FALSE(last<Revoke>(2)) << "too early";
  ASSERT_TRUE(machine_.next_tick());
  for (int ticks = 0; machine_.next_tick() && !last<Revoke>(2) && ticks < 5; ++ticks)
    after(*machine_.next_tick() - now_);
  ASSERT_TRUE(last<Revoke>(2));
  EXPECT_EQ(last<Revoke>(2)->reason, Revoke::Reason::more_free);
  from(2, wants(8, 2, small));
  EXPECT_EQ(granted(2), 8);
  for (int ticks = 0; machine_.next_tick(); ++ticks) {
    ASSERT_LT(ticks, 5) << "is at rest in the end";
    EXPECT_TRUE(after(*machine_.next_tick() - now_).empty());
  }
}

TEST_F(CoordinatorTest, AvoidsCpusThatAreBusyWithOthers) {
  join(1), join(2), join(3);
  step(Load{cpus(0, 5)});
  from(1, wants(2));
  EXPECT_EQ(last<Grant>(1)->team, CpuTeam(std::vector<int>{5, 6}));
  from(2, wants(1));
  EXPECT_EQ(last<Grant>(2)->team, CpuTeam(std::vector<int>{7}));
  from(3, wants(2));
  EXPECT_EQ(granted(3), 2) << "better there than not at all";
}

TEST_F(CoordinatorTest, TakesLeasesOverFromTheOneBefore) {
  join(1), join(2);
  from(1, Claim{7, 1, {4, 4}, CpuTeam(std::vector<int>{3, 2, 1})});
  EXPECT_EQ(last<Grant>(1)->team, CpuTeam(std::vector<int>{3, 2, 1}));
  from(2, Claim{7, 1, {4, 4}, CpuTeam(std::vector<int>{900, 1, 4, 2})});
  EXPECT_EQ(last<Grant>(2)->team, CpuTeam(std::vector<int>{4})) << "what is left of it";
  from(2, Claim{7, 2, {4, 4}, CpuTeam(std::vector<int>{1})});
  EXPECT_EQ(refused(2), Refusal::Reason::cpus_taken);
  after(claims + 1);
  from(2, Claim{7, 2, {4, 4}, CpuTeam(std::vector<int>{6})});
  EXPECT_EQ(refused(2), Refusal::Reason::cpus_taken) << "this is no way past others";
}

// Nor does it take the cpus beyond what the region can use.
TEST_F(CoordinatorTest, AClaimIsCutToItsDemand) {
  join(1);
  from(1, Claim{7, 1, {2, 2}, CpuTeam(std::vector<int>{3, 2, 1})});
  EXPECT_EQ(granted(1), 2);
}

TEST_F(CoordinatorTest, LearnsWhatARegionCanUse) {
  join(1);
  Request const unknown{.region = 7, .ticket = 1};
  from(1, unknown);
  EXPECT_EQ(granted(1), 8) << "all of an idle host";
  from(1, Release{last<Grant>(1)->lease});
  for (int run = 0; run < 3; ++run) {
    from(1, Report{7, 2, 1000});
    from(1, Report{7, 8, 1200});
    from(1, Report{8, 2, 1000});
  }
  from(1, unknown);
  EXPECT_EQ(granted(1), 2) << "more were no faster";
  from(1, Release{last<Grant>(1)->lease});
  from(1, wants(5));
  EXPECT_EQ(granted(1), 5) << "who says what it needs is believed";
  from(1, Release{last<Grant>(1)->lease});
  from(1, Request{.region = 8, .ticket = 1});
  EXPECT_EQ(granted(1), 8) << "one size tells nothing";
}

TEST_F(CoordinatorTest, TellsHowThingsAre) {
  join(1), join(2);
  from(1, wants(8));
  now_ += 10;
  from(2, wants(3));
  now_ += 30;
  from(9, Query{});
  auto const host = last<Status>(9);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->cpus, 8u);
  EXPECT_EQ(host->free, 0u);
  EXPECT_EQ(host->programs, 2u);
  EXPECT_EQ(host->waiting, 1u);
  EXPECT_EQ(host->held, 8u);
  EXPECT_EQ(host->region, 7u);
  from(9, Query{host->program + 1});
  EXPECT_EQ(last<Status>(9)->pid, 2u);
  EXPECT_EQ(last<Status>(9)->requests, 1u);
  EXPECT_EQ(last<Status>(9)->waiting_us, 30u);
  from(9, Query{last<Status>(9)->program + 1});
  EXPECT_EQ(last<Status>(9)->program, 0u);
}

}  // namespace
}  // namespace nigh::coordinator
