// SPDX-License-Identifier: Apache-2.0
// Requests that do not wait for ever, and what becomes of programs that got no cpus in time.
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "stepped_coordinator.hpp"

namespace nigh::coordinator {
namespace {

using test::cpus;
using test::overdue;
using test::slice;

constexpr Time patience = 2'000, want = 10'000, keep = 200;

class Patience : public test::SteppedCoordinator {
 protected:
  Patience() : SteppedCoordinator({4}, options(), 1'000'000) {}

  std::vector<Send> const& step(Event const& event) {
    SteppedCoordinator::step(event);
    if (last<Revoke>(1)) is_asked_of_1_ = true;
    if (granted(1) > 0) is_asked_of_1_ = false;
    return sent_;
  }
  void from(Connection c, ProgramMessage message) { step(Received{c, std::move(message)}); }
  void after(Time us) {
    now_ += us;
    step(Tick{});
  }
  void join(Connection c, int count = 4) {
    from(c,
         Register{
             .pid = static_cast<std::uint32_t>(c), .name = Name("p"), .allowed = cpus(0, count)});
  }
  static Request wants(std::uint32_t threads, Ticket ticket, Time for_us = patience,
                       LeaseId returned = 0) {
    return {.region = 7,
            .ticket = ticket,
            .demand = {threads, threads},
            .returned = returned,
            .patience_us = static_cast<std::uint32_t>(for_us)};
  }
  static CoordinatorOptions options() {
    CoordinatorOptions o;
    o.allocation.how = policy::CoreAllocation::clustered;
    o.slice_us = slice;
    o.idle_slice_us = 300;
    o.round_us = 2'000;
    o.shortest_slice_us = 100;
    o.overdue_us = overdue;
    o.want_us = want;
    o.keep_us = keep;
    o.return_us = slice;
    o.rest_us = 1'000'000'000;
    return o;
  }

  bool is_asked_of_1_ = false;
};

TEST_F(Patience, EndsWithWordThatThereAreNoCpus) {
  join(1), join(2);
  from(1, wants(4, 1));
  EXPECT_EQ(granted(1), 4);
  from(2, wants(4, 5));
  after(patience - 1);
  EXPECT_FALSE(last<Unplaced>(2));
  ASSERT_EQ(machine_.next_tick(), now_ + 1);
  after(1);
  ASSERT_TRUE(last<Unplaced>(2));
  EXPECT_EQ(last<Unplaced>(2)->ticket, 5u);
  EXPECT_EQ(machine_.waiting(), 0);
  from(2, Query{});
  EXPECT_EQ(last<Status>(2)->unplaced, 1u);
  from(2, Query{2});
  EXPECT_EQ(last<Status>(2)->ran_unplaced, 1u);
  EXPECT_EQ(last<Status>(2)->waited_us, std::uint64_t{patience});
}

TEST_F(Patience, OfALookIsOverAtOnce) {
  join(1), join(2);
  from(1, wants(4, 1));
  from(2, wants(4, 5, 1));
  EXPECT_EQ(machine_.waiting(), 1) << "what is idle may come back in the same moment";
  after(1);
  EXPECT_TRUE(last<Unplaced>(2));
  from(1, Release{1});
  from(2, wants(4, 6, 1));
  EXPECT_EQ(granted(2), 2) << "1 is expected again";
}

// Its lease comes back at the end of the region, and then both have their part.
TEST_F(Patience, LeavesAProgramInWantForWhichRoomIsMade) {
  join(1), join(2);
  from(1, wants(4, 1));
  auto const lease = last<Grant>(1)->lease;
  from(2, wants(4, 1, 1));
  ASSERT_TRUE(last<Revoke>(1)) << "it has more than its part";
  EXPECT_EQ(last<Revoke>(1)->reason, Revoke::Reason::others_wait);
  after(1);
  EXPECT_TRUE(last<Unplaced>(2));
  from(1, wants(4, 2, patience, lease));
  EXPECT_EQ(granted(1), 2) << "though nobody waits";
  from(2, wants(4, 2));
  EXPECT_EQ(granted(2), 2);
  EXPECT_FALSE((after(want), last<Revoke>(1) || last<Revoke>(2))) << "all are content";
}

TEST_F(Patience, WantIsOverAfterAWhile) {
  join(1), join(2);
  from(1, wants(4, 1));
  from(2, wants(4, 1, 1));
  after(1);
  from(1, Release{1});
  after(want);
  from(1, wants(4, 2));
  EXPECT_EQ(granted(1), 4);
}

// With four programs on four cpus, one that got nothing finds a cpu kept for it when it comes back
// soon, whoever else asks meanwhile; one that waits for ever is kept nothing from.
TEST_F(Patience, KeepsWhatComesBackForAMoment) {
  for (Connection c : {1u, 2u, 3u}) join(c);
  from(1, wants(4, 1));
  auto const lease = last<Grant>(1)->lease;
  from(2, wants(1, 1, 1));
  after(1);
  EXPECT_TRUE(last<Unplaced>(2));
  from(1, Release{lease});
  now_ += 1;
  from(3, wants(4, 1));
  EXPECT_EQ(granted(3), 3) << "one is kept";
  from(3, wants(4, 2));
  from(1, wants(4, 2));
  from(2, wants(1, 2, 1));
  EXPECT_EQ(granted(2), 1);
}

TEST_F(Patience, GetsCpusForWhoKeepsLooking) {
  join(1), join(2);
  from(1, wants(4, 1));
  auto lease = last<Grant>(1)->lease;
  for (Ticket t = 2; t < 20; ++t) {  // a program of short regions beside one of long ones
    from(2, wants(4, t, 1));
    if (granted(2) > 0) break;
    after(1);
    after(slice / 4);
    if (is_asked_of_1_) from(1, wants(4, t, patience, lease));
    if (granted(1) > 0) lease = last<Grant>(1)->lease;
    if (granted(2) > 0) break;
    ASSERT_LT(t, 12u) << "it never gets any";
  }
}

TEST_F(Patience, EndsNoLeaseThatIsOverdue) {
  join(1), join(2), join(3);
  from(1, wants(4, 1));
  for (Ticket t = 1; t < 40; ++t) {
    from(2, wants(4, t));
    after(patience);
    EXPECT_TRUE(last<Unplaced>(2));
    EXPECT_FALSE(last<Revoke>(1) && last<Revoke>(1)->reason == Revoke::Reason::ended);
  }
  from(3, wants(4, 1, 0));
  EXPECT_GT(granted(3), 0) << "one that waits for ever has nobody else to help it";
}

TEST_F(Patience, GoesByTurnsThatAreAsShortAsTheyMustBe) {
  for (Connection c : {1u, 2u, 3u}) join(c, 1);
  from(1, wants(4, 1));
  from(2, wants(4, 1));
  EXPECT_EQ(machine_.next_tick(), now_ + 300) << "if it is idle";
  from(3, wants(4, 1));
  after(2'000 / 3);
  EXPECT_TRUE(last<Revoke>(1)) << "a round is for all three";
}

TEST_F(Patience, AlsoEndsWhenCpusAreThereInTheSameMoment) {
  join(1), join(2);
  from(1, wants(4, 1));
  auto const lease = last<Grant>(1)->lease;
  from(2, wants(2, 1));
  now_ += patience;
  from(1, Release{lease});
  EXPECT_EQ(granted(2), 2) << "better late than not at all";
  EXPECT_FALSE(last<Unplaced>(2));
}

// It stands behind one that waits for ever, and is not led past others when that one leaves.
TEST_F(Patience, KeepsItsPlaceWhenOneThatWaitsForEverLeaves) {
  for (Connection c : {1u, 2u, 3u, 4u}) join(c);
  from(1, wants(4, 1));
  from(2, wants(4, 1, 1));
  after(1);
  EXPECT_TRUE(last<Unplaced>(2));
  now_ += 1;
  from(3, wants(4, 1));
  from(4, wants(4, 1, 0));
  now_ += 1;
  from(2, wants(4, 2));
  EXPECT_EQ(machine_.waiting(), 3);
  step(Lost{4});
  EXPECT_EQ(machine_.waiting(), 2);
  from(1, Release{1});
  EXPECT_GT(granted(3), 0);
}

class ExternalLoadBeside : public Patience {};

TEST_F(ExternalLoadBeside, KeepATeamFromQuietCpusOnlyWhereTheyAreTooFew) {
  join(1), join(2);
  CpuSet one;
  one.add(0);
  step(Load{one});
  from(1, wants(3, 1));
  EXPECT_EQ(granted(1), 3);
  EXPECT_EQ(last<Grant>(1)->floats, 0) << "three are quiet";
  from(1, Release{last<Grant>(1)->lease});
  from(1, wants(4, 2));
  EXPECT_EQ(granted(1), 4);
  EXPECT_EQ(last<Grant>(1)->floats, 1);
}

TEST_F(ExternalLoadBeside, OnLeasedCpusHaveTeamsFloatAndBeBoundAgain) {
  join(1);
  from(1, wants(4, 1));
  EXPECT_EQ(last<Grant>(1)->floats, 0);
  auto lease = last<Grant>(1)->lease;
  after(slice);
  step(Load{{}, true});
  ASSERT_TRUE(last<Revoke>(1));
  from(1, wants(4, 2, patience, lease));
  EXPECT_EQ(granted(1), 4);
  EXPECT_EQ(last<Grant>(1)->floats, 1);
  lease = last<Grant>(1)->lease;
  after(slice);
  EXPECT_FALSE(last<Revoke>(1)) << "it is as it should be";
  step(Load{{}, false});
  after(slice);
  ASSERT_TRUE(last<Revoke>(1));
  from(1, wants(4, 3, patience, lease));
  EXPECT_EQ(last<Grant>(1)->floats, 0);
  from(1, Query{});
  EXPECT_EQ(last<Status>(1)->has_unseen_load, 0);
}

}  // namespace
}  // namespace nigh::coordinator
