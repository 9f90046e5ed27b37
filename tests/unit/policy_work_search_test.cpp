// SPDX-License-Identifier: Apache-2.0
// Where a thread without a task may look, for every kind of thread and every reason to look; and in
// which order it does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policy/stealing/work_search.hpp"

namespace {

using namespace nigh::policy;
using enum Source;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Source> look(SearchPhase phase, Permissions may, int failed_rounds) {
  auto const order = search_order(phase, may, failed_rounds);
  return {order.begin(), order.end()};
}

constexpr Permissions everything{true, true, true, true};

struct Row {
  WaitingFor waiting_for;
  bool stack_low, cpu_revoked;
  // Of each kind of thread, what it may: t(hief), s(tacks and mailbox), q(ueues), o(wn shared
  // tasks).
  char const *worker, *relieved, *backup, *external;
};

constexpr Row truth_table[] = {
    {WaitingFor::work, false, false, "sq", "sq", "sq", "s"},
    {WaitingFor::work, false, true, "sq", "sq", "sq", "s"},
    {WaitingFor::work, true, false, "sq", "sq", "sq", "s"},
    {WaitingFor::work, true, true, "sq", "sq", "sq", "s"},
    {WaitingFor::stolen_task, false, false, "tsq", "tsq", "tsq", "ts"},
    {WaitingFor::stolen_task, false, true, "t", "t", "t", "t"},
    {WaitingFor::stolen_task, true, false, "tsq", "", "tsq", ""},
    {WaitingFor::stolen_task, true, true, "t", "", "t", ""},
    {WaitingFor::scope, false, false, "sqo", "sqo", "sqo", "so"},
    {WaitingFor::scope, false, true, "o", "o", "o", "o"},
    {WaitingFor::scope, true, false, "sqo", "", "sqo", ""},
    {WaitingFor::scope, true, true, "o", "", "o", ""},
};

std::string in_letters(Permissions p) {
  std::string letters;
  if (p.thief) letters += 't';
  if (p.stacks) letters += 's';
  if (p.queues) letters += 'q';
  if (p.own_shared) letters += 'o';
  return letters;
}

TEST(WorkSearch, PermissionsAreThoseOfTheTruthTable) {
  for (Row const& row : truth_table) {
    auto const of = [&](ThreadKind kind) {
      return in_letters(permissions(kind, row.waiting_for, row.stack_low, row.cpu_revoked));
    };
    auto const at = &row - truth_table;
    EXPECT_EQ(of(ThreadKind::worker), row.worker) << "row " << at;
    EXPECT_EQ(of(ThreadKind::relieved_worker), row.relieved) << "row " << at;
    EXPECT_EQ(of(ThreadKind::backup), row.backup) << "row " << at;
    EXPECT_EQ(of(ThreadKind::external), row.external) << "row " << at;
  }
}

// A thread that waits in an isolated region takes nothing; without a wait it is in none.
TEST(WorkSearch, InAnIsolatedRegionAWaitTakesNothing) {
  for (Row const& row : truth_table)
    for (auto const kind : {ThreadKind::worker, ThreadKind::relieved_worker, ThreadKind::backup,
                            ThreadKind::external}) {
      auto const of = [&](bool isolated) {
        return permissions(kind, row.waiting_for, row.stack_low, row.cpu_revoked, isolated);
      };
      bool const waits = row.waiting_for != WaitingFor::work;
      EXPECT_EQ(of(true), waits ? Permissions{} : of(false));
    }
}

// Spawners count only on threads that take what they queue.
TEST(WorkSearch, ThreadsThatMayNotTakeQueuedTasksAreNotCountedAsSearching) {
  for (Row const& row : truth_table)
    for (auto const kind : {ThreadKind::worker, ThreadKind::relieved_worker, ThreadKind::backup,
                            ThreadKind::external}) {
      auto const may = permissions(kind, row.waiting_for, row.stack_low, row.cpu_revoked);
      auto const looks = look(SearchPhase::search, may, 1000);
      bool const at_queues = std::find(looks.begin(), looks.end(), own_queue) != looks.end();
      EXPECT_EQ(may.counts_as_searching(), at_queues);
      EXPECT_EQ(may == Permissions{}, looks.empty());
    }
}

TEST(WorkSearch, BeginsWithWhatIsItsOwn) {
  EXPECT_THAT(look(SearchPhase::begin, everything, 0), ElementsAre(mailbox, own_queue, stacks));
  EXPECT_THAT(look(SearchPhase::leapfrog, everything, 0), ElementsAre(joined_thief));
}

TEST(WorkSearch, OnlyWhoJoinsAStolenTaskHasAThiefToLookAt) {
  for (bool const low : {false, true})
    for (bool const revoked : {false, true}) {
      auto const of = [&](WaitingFor what) {
        return look(SearchPhase::leapfrog, permissions(ThreadKind::worker, what, low, revoked), 0);
      };
      EXPECT_THAT(of(WaitingFor::stolen_task), ElementsAre(joined_thief));
      EXPECT_THAT(of(WaitingFor::scope), IsEmpty());
      EXPECT_THAT(of(WaitingFor::work), IsEmpty());
    }
}

TEST(WorkSearch, ALingeringWorkerLooksAtItsQueueOncePerRound) {
  IdlePolicy const p;
  for (int look_at = 0; look_at < 3 * p.pauses_lingering; ++look_at) {
    if (look_at % p.pauses_lingering == p.pauses_lingering - 1)
      EXPECT_THAT(look(SearchPhase::linger, everything, look_at),
                  ElementsAre(mailbox, stacks, own_queue));
    else
      EXPECT_THAT(look(SearchPhase::linger, everything, look_at), ElementsAre(mailbox, stacks));
  }
}

TEST(WorkSearch, SearchesFromNearToFar) {
  EXPECT_THAT(
      look(SearchPhase::search, everything, 0),
      ElementsAre(joined_thief, mailbox, stacks, own_queue, sibling_buffers, own_shared, imported));
  EXPECT_THAT(look(SearchPhase::search, everything, IdlePolicy{}.rounds_in_own_domain),
              ElementsAre(joined_thief, mailbox, stacks, own_queue, sibling_buffers, other_queues,
                          own_shared, imported));
  EXPECT_THAT(look(SearchPhase::search, {}, 1000), IsEmpty());
  EXPECT_THAT(look(SearchPhase::search,
                   permissions(ThreadKind::worker, WaitingFor::stolen_task, false, true), 1000),
              ElementsAre(joined_thief));
  EXPECT_THAT(look(SearchPhase::search,
                   permissions(ThreadKind::external, WaitingFor::scope, false, false), 1000),
              ElementsAre(mailbox, stacks, own_shared));
}

}  // namespace
