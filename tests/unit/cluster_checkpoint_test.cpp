// SPDX-License-Identifier: Apache-2.0
// Checkpoints: the state machines of several ranks alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "checkpoint_ranks.hpp"
#include "cluster/wire.hpp"

namespace {

using namespace nigh::cluster;
using namespace nigh::tests;
using testing::ElementsAre;
using What = CheckpointHead::What;

// Ranks of hosts of two each.
class CheckpointRanks {
 public:
  explicit CheckpointRanks(int ranks, bool keeps_copies = true)
      : is_left_(static_cast<std::size_t>(ranks), true) {
    for (int r = 0; r < ranks; ++r) {
      std::vector<bool> near;
      for (int other = 0; other < ranks; ++other) near.push_back(other / 2 == r / 2);
      machines_.push_back(
          std::make_unique<Checkpoints>(r, near, CheckpointPolicy{keeps_copies, {4, 2}}));
    }
  }

  WaitingCall& keep(int rank, std::int64_t step, std::string const& name = "grid") {
    return call(rank, [&](Checkpoints& c, void* call) {
      c.keep(call, name, step, content_of(name, step));
    });
  }
  WaitingCall& find(int rank, std::string const& name = "grid") {
    return call(rank, [&](Checkpoints& c, void* call) { c.find(call, name); });
  }
  WaitingCall& forget(int rank, std::string const& name = "grid") {
    return call(rank, [&](Checkpoints& c, void* call) { c.forget(call, name); });
  }
  void end_calls(int rank) {
    at(rank).end_calls();
    collect(rank);
  }

  // One message, if there is one from there to there.
  bool pass(int from, int to) {
    auto& queue = queues_[{from, to}];
    if (queue.empty()) return false;
    auto const m = std::move(queue.front());
    queue.pop_front();
    Writer writer;
    writer.put(m.head);
    writer.put(std::as_bytes(std::span(m.name)));
    writer.put(m.piece());
    Reader reader(writer.view());
    largest_piece = std::max(largest_piece, m.piece().size());
    at(to).receive(from, reader);
    collect(to);
    return true;
  }
  void pass_all(int from, int to) {
    while (pass(from, to)) {
    }
  }
  // All but those to the rank.
  void settle(int without = -1) {
    for (bool again = true; again;) {
      again = false;
      for (int from = 0; from < ranks(); ++from)
        for (int to = 0; to < ranks(); ++to) again |= to != without && pass(from, to);
    }
  }
  void lose(int rank) {
    is_left_[static_cast<std::size_t>(rank)] = false;
    for (auto& [way, queue] : queues_)
      if (way.first == rank || way.second == rank) queue.clear();
    for (int r = 0; r < ranks(); ++r) {
      if (!is_left_[static_cast<std::size_t>(r)]) continue;
      at(r).lose(rank);
      collect(r);
    }
  }

  std::vector<std::int64_t> steps(std::string const& name = "grid") {  // [rank], the newest
    std::vector<std::int64_t> all;
    for (int r = 0; r < ranks(); ++r)
      all.push_back(is_left_[static_cast<std::size_t>(r)] ? step_in(at(r).newest(name)) : -1);
    return all;
  }
  Checkpoints& at(int rank) { return *machines_[static_cast<std::size_t>(rank)]; }
  std::size_t waiting(int from, int to) { return queues_[{from, to}].size(); }
  std::size_t largest_piece = 0;

 private:
  int ranks() const { return static_cast<int>(machines_.size()); }
  template <class Begin>
  WaitingCall& call(int rank, Begin begin) {
    begin(at(rank), &calls_.emplace_back());
    auto& made = calls_.back();
    collect(rank);
    return made;
  }
  void collect(int rank) {
    for (auto& m : at(rank).take_messages())
      if (is_left_[static_cast<std::size_t>(m.to)]) queues_[{rank, m.to}].push_back(m);
    for (auto& finished : at(rank).take_finished()) WaitingCall::end(std::move(finished));
  }

  std::vector<std::unique_ptr<Checkpoints>> machines_;
  std::vector<bool> is_left_;
  std::map<std::pair<int, int>, std::deque<CheckpointMessage>> queues_;
  std::list<WaitingCall> calls_;
};

TEST(Checkpoints, AreKeptByTwoRanksOfOtherHosts) {
  CheckpointRanks m(6);
  auto const& kept = m.keep(0, 10);
  EXPECT_FALSE(kept.has_ended);
  m.settle();
  EXPECT_TRUE(kept.has_ended);
  EXPECT_THAT(m.steps(), ElementsAre(10, 0, 10, 10, 0, 0));
}

TEST(Checkpoints, AreKeptByARankOfTheHostWhereThereIsNoOther) {
  CheckpointRanks m(3);
  m.keep(0, 10);
  m.settle();
  EXPECT_THAT(m.steps(), ElementsAre(10, 10, 10));
}

TEST(Checkpoints, NeedNoOtherRank) {
  for (auto* m : {new CheckpointRanks(1), new CheckpointRanks(4, false)}) {
    EXPECT_TRUE(m->keep(0, 10).has_ended);
    m->settle();
    EXPECT_EQ(m->steps()[0], 10);
    auto const& found = m->find(0);
    m->settle();
    EXPECT_EQ(step_in(found.found), 10);
    delete m;
  }
}

TEST(Checkpoints, AreFoundByAnyRank) {
  CheckpointRanks m(6);
  m.keep(0, 10);
  m.settle();
  for (int r = 0; r < 6; ++r) {
    auto const& found = m.find(r);
    m.settle();
    ASSERT_TRUE(found.found) << r;
    EXPECT_EQ(*found.found->content, *content_of("grid", 10));
  }
  auto const& none = m.find(1, "another");
  m.settle();
  EXPECT_TRUE(none.has_ended);
  EXPECT_FALSE(none.found);
}

TEST(Checkpoints, TravelInPiecesOfWhichTwoAreUnderWay) {
  CheckpointRanks m(6);
  m.keep(0, 10);
  EXPECT_EQ(m.waiting(0, 2), 2u);
  m.pass(0, 2);
  EXPECT_EQ(m.waiting(0, 2), 1u) << "the next one goes when an answer is back";
  m.pass(2, 0);
  EXPECT_EQ(m.waiting(0, 2), 2u);
  m.settle();
  EXPECT_EQ(m.largest_piece, 4u);
}

TEST(Checkpoints, StayUntilANewerOneIsComplete) {
  CheckpointRanks m(6);
  m.keep(0, 10);
  m.settle();
  auto const& second = m.keep(0, 20);
  m.settle(2);  // rank 2 has nothing of it
  EXPECT_FALSE(second.has_ended);
  EXPECT_THAT(m.steps(), ElementsAre(20, 0, 10, 20, 0, 0));
  auto const two_steps = m.at(3).held_bytes();
  m.settle();
  EXPECT_TRUE(second.has_ended);
  EXPECT_THAT(m.steps(), ElementsAre(20, 0, 20, 20, 0, 0));
  EXPECT_LT(m.at(3).held_bytes(), two_steps);
}

TEST(Checkpoints, AreNotReplacedByAnOlderStep) {
  CheckpointRanks m(6);
  m.keep(0, 20);
  m.settle();
  EXPECT_TRUE(m.keep(0, 10).has_ended);
  EXPECT_TRUE(m.keep(2, 20).has_ended);
  auto const& elsewhere = m.keep(1, 10);
  m.settle();
  EXPECT_TRUE(elsewhere.has_ended);
  auto const& found = m.find(1);
  m.settle();
  EXPECT_EQ(step_in(found.found), 20);
}

TEST(Checkpoints, MoveWithTheirOwner) {
  CheckpointRanks m(6);
  m.keep(0, 10);
  m.settle();
  m.keep(4, 20);
  m.settle();
  EXPECT_THAT(m.steps(), ElementsAre(20, 20, 0, 0, 20, 0)) << "nothing is left of step 10";
}

TEST(Checkpoints, AreWholeWhenTheOwnerIsLostInTheMidst) {
  CheckpointRanks m(6);
  m.keep(0, 10);
  m.settle();
  m.keep(0, 20);
  m.pass(0, 2);
  m.lose(0);
  m.settle();
  auto const& found = m.find(5);
  m.settle();
  EXPECT_EQ(step_in(found.found), 10);
}

TEST(Checkpoints, AreKeptAgainAfterEachLoss) {
  for (int const lost : {0, 2, 3}) {
    CheckpointRanks m(6);
    m.keep(0, 10);
    m.settle();
    m.lose(lost);
    m.settle();
    EXPECT_EQ(testing::Matches(testing::Contains(10).Times(3))(m.steps()), true)
        << testing::PrintToString(m.steps());
  }
}

TEST(Checkpoints, AreKeptAgainWhenBothOthersAreLost) {
  CheckpointRanks m(6);
  m.keep(0, 10);
  m.settle();
  m.lose(0);
  m.lose(2);
  m.settle();
  EXPECT_THAT(m.steps(), testing::Contains(10).Times(3));
}

TEST(Checkpoints, OfWhichOneKeeperHasTheNewestStepAreKeptAgain) {
  CheckpointRanks m(6);
  m.keep(0, 10);
  m.settle();
  m.keep(0, 20);
  m.settle(2);
  m.lose(0);
  m.settle();
  EXPECT_THAT(m.steps(), testing::Contains(20).Times(3));
  EXPECT_THAT(m.steps(), testing::Not(testing::Contains(10)));
}

TEST(Checkpoints, FindAnotherKeeperMeanwhile) {
  CheckpointRanks m(6);
  auto const& kept = m.keep(0, 10);
  m.pass(0, 2);
  m.lose(2);
  m.settle();
  EXPECT_TRUE(kept.has_ended);
  EXPECT_THAT(m.steps(), ElementsAre(10, 0, -1, 10, 10, 0));
}

TEST(Checkpoints, AreFetchedFromAnotherKeeperWhenOneIsLost) {
  CheckpointRanks m(6);
  m.keep(0, 10);
  m.settle();
  auto const& found = m.find(1);
  for (int from : {0, 2, 3, 4, 5}) m.pass_all(1, from);
  for (int from : {0, 2, 3, 4, 5}) m.pass_all(from, 1);
  m.pass(1, 0);  // the first that has answered
  m.pass(0, 1);
  EXPECT_FALSE(found.has_ended);
  m.lose(0);
  m.settle();
  EXPECT_EQ(step_in(found.found), 10);
}

TEST(Checkpoints, AreForgottenByAll) {
  CheckpointRanks m(6);
  m.keep(0, 10);
  m.settle();
  auto const& forgotten = m.forget(5);
  EXPECT_FALSE(forgotten.has_ended);
  m.settle();
  EXPECT_TRUE(forgotten.has_ended);
  EXPECT_THAT(m.steps(), ElementsAre(0, 0, 0, 0, 0, 0));
  m.keep(1, 1);
  m.settle();
  EXPECT_THAT(m.steps(), testing::Contains(1).Times(3)) << "the name begins anew";
}

TEST(Checkpoints, AreForgottenOnTheirWay) {
  CheckpointRanks m(6);
  auto const& kept = m.keep(0, 10);
  m.pass(0, 2);
  m.forget(5);
  m.pass(5, 2);
  m.settle();
  EXPECT_TRUE(kept.has_ended);
  EXPECT_THAT(m.steps(), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(Checkpoints, EndCallsWithTheRun) {
  CheckpointRanks m(6);
  auto const& kept = m.keep(0, 10);
  auto const& found = m.find(0);
  auto const& forgotten = m.forget(0, "another");
  m.end_calls(0);
  EXPECT_TRUE(kept.has_ended);
  EXPECT_TRUE(forgotten.has_ended);
  EXPECT_EQ(step_in(found.found), 10) << "what is here";
  m.settle();
  EXPECT_THAT(m.steps(), testing::Contains(10).Times(3)) << "the copies go on";
}

}  // namespace
