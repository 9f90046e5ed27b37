// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several ranks' engines in one thread, with tasks that count themselves, on a network whose
// schedule a seed decides: each task runs once, each result arrives once, and a run is over when
// all of it is done, not before.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "cluster_rank.hpp"

namespace nigh::tests {

struct Schedule {
  unsigned seed;
  int ranks;
  Rank::Rules rules;
  bool shares_memory = false;
  bool resizes = false;  // any rank grows or shrinks the session, now and then
};

// A loss, once so many messages have been sent. Every survivor learns of it some time later; or of
// a rank that stops nothing, and it goes on when so many have been.
struct Loss {
  int rank;
  std::size_t after;
  bool stops = false;
  std::size_t until = 0;
};

// Any of the policies, as the seed says.
inline EnginePolicies some_policies(unsigned seed, bool supervised) {
  EnginePolicies policies;
  policies.seed = seed;
  if (seed % 3 == 0) policies.victims = policy::VictimChoice::random;
  policies.chunks = seed % 2 == 0 ? policy::ChunkChoice::half : policy::ChunkChoice::one;
  policies.has_lifelines = seed % 4 < 2;
  policies.supervised = supervised;
  return policies;
}

// Losses and stops at any time, in the order that Play takes them.
inline std::vector<Loss> last_first(std::vector<Loss> losses) {
  std::sort(losses.begin(), losses.end(),
            [](Loss const& a, Loss const& b) { return a.after > b.after; });
  return losses;
}
// Of all ranks but one, one in `one_in` stays, too.
inline std::vector<Loss> some_losses(std::mt19937& random, int ranks, unsigned one_in) {
  auto const survivor = static_cast<int>(random() % static_cast<unsigned>(ranks));
  std::vector<Loss> losses;
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != survivor && random() % one_in != 0) losses.push_back({rank, random() % 600});
  return last_first(std::move(losses));
}
inline std::vector<Loss> some_stops(std::mt19937& random, int ranks) {
  std::vector<Loss> stops;
  for (int rank = 0; rank < ranks; ++rank) {
    auto const at = random() % 400;
    if (random() % 2 == 0) stops.push_back({rank, at, true, at + random() % 4000});
  }
  return last_first(std::move(stops));
}

// Runs follow each other; ranks are not all in the same one.
class Play {
 public:
  explicit Play(Schedule const& s, std::vector<Loss> losses = {})
      : random_(s.seed),
        network_(s.ranks),
        hosts_(s.ranks),
        losses_(std::move(losses)),
        resizes_(s.resizes) {
    for (int r = 0; r < s.ranks; ++r) {
      ranks_.push_back(
          std::make_unique<Rank>(r, reaches(r, s.ranks), network_, s.rules,
                                 s.shares_memory ? hosts_.seen_by(r) : HostSegments{}));
      unheard_.emplace_back();
    }
    begun_.assign(ranks_.size(), 0);
    left_ = begun_;
    is_lost_.assign(ranks_.size(), false);
    is_left_ = is_gone_ = is_lost_;
  }

  void operator()() {
    bool const may_lose = !losses_.empty();
    go_on(may_lose);
    if (testing::Test::HasFatalFailure()) return;
    bool const is_any_done = std::find(is_lost_.begin(), is_lost_.end(), false) != is_lost_.end();
    while (!stopped_.empty()) wake_first();
    // Root and deputy were stopped, and all others have ended.
    if (!is_any_done) go_on(may_lose);
    if (testing::Test::HasFatalFailure()) return;
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (is_left_[r]) see_it_told(r);
    see_all_idle();
    TaskCounts sum;
    for (auto const& rank : ranks_) {
      sum.created += rank->free_counts().created;
      sum.finished += rank->free_counts().finished;
    }
    EXPECT_EQ(sum.created, sum.finished);
  }

  std::size_t successions() const { return successions_; }
  std::size_t messages() const { return network_.sent(); }
  std::size_t ran(int rank) const { return ranks_[static_cast<std::size_t>(rank)]->ran; }
  rank_counters counters() const {
    rank_counters all;
    for (auto const& rank : ranks_) {
      auto const& c = rank->engine.counters();
      all.tasks_stolen += c.tasks_stolen;
      all.tasks_given += c.tasks_given;
      all.window_tasks += c.window_tasks;
      all.tasks_run_again += c.tasks_run_again;
    }
    return all;
  }

 private:
  static constexpr int runs = 3;
  static int size_in(int run) { return 4 + run; }

  std::size_t unfinished() const {
    std::size_t n = 0;
    for (std::size_t r = 0; r < ranks_.size(); ++r) n += !is_lost_[r] && left_[r] < runs;
    return n;
  }

  void go_on(bool may_lose) {
    for (int step = 0; unfinished() > 0; ++step) {
      ASSERT_LT(step, 3'000'000) << "it ends";
      now_ += 1 + static_cast<std::int64_t>(random_() % 2000);
      auto const r = random_() % ranks_.size();
      if (!is_lost_[r]) left_[r] < runs ? act(r, may_lose) : attend(r);
      if (testing::Test::HasFatalFailure()) return;
      lose_some();
    }
  }

  void hear_of_loss(std::size_t r) {
    if (random_() % 16 == 0) ranks_[r]->engine.beat();
    if (unheard_[r].empty() || random_() % 16 != 0) return;
    ranks_[r]->engine.lose(unheard_[r].back(), now_);
    unheard_[r].pop_back();
  }
  void hear_message(std::size_t r) {
    auto const got = network_.next_for(static_cast<int>(r), random_);
    if (got.from >= 0) ranks_[r]->engine.receive(got.from, got.message, now_);
  }

  // A rank that waits for the others to part.
  void attend(std::size_t r) {
    hear_of_loss(r);
    hear_message(r);
    ranks_[r]->step(random_);
  }

  void act(std::size_t r, bool may_lose) {
    auto& rank = *ranks_[r];
    hear_of_loss(r);
    if (begun_[r] == left_[r]) {  // between two runs
      if (random_() % 8 != 0) return;
      ++begun_[r];
      rank.engine.begin();
      if (rank.engine.has_root()) rank.add_root(size_in(begun_[r]), true);
    }
    if (resizes_ && random_() % 64 == 0)
      rank.engine.resize(1 + static_cast<int>(random_() % ranks_.size()));
    switch (random_() % 3) {
      case 0:
        rank.step(random_);
        break;
      case 1:
        hear_message(r);
        break;
      default:
        rank.engine.tick(now_);
    }
    if (rank.becomes_root()) {
      ++successions_;
      rank.add_root(size_in(begun_[r]), true);
    }
    for (int left : rank.take_left())
      is_left_[static_cast<std::size_t>(left)] = !is_gone_[static_cast<std::size_t>(left)];
    if (rank.ends()) return take_for_lost(static_cast<int>(r));
    if (!rank.engine.is_over()) return;
    auto const outcome = rank.engine.take_outcome();
    int value = 0;
    std::memcpy(&value, outcome.output.data(), sizeof value);
    ASSERT_EQ(value, (2 << size_in(begun_[r])) - 1);
    // Messages for a lost rank may be left.
    ASSERT_TRUE(may_lose || rank.is_idle()) << "rank " << r << " has nothing left";
    ASSERT_TRUE(hosts_.segment(static_cast<int>(r)).queue.is_empty()) << "nor in its shared queue";
    ++left_[r];
  }

  // Nothing waits for what will not come: not even what was for a rank that is lost.
  void see_all_idle() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      if (is_lost_[r]) continue;
      while (ranks_[r]->has_ready()) ranks_[r]->step(random_);
      EXPECT_TRUE(ranks_[r]->is_idle()) << "rank " << r;
    }
  }

  void lose_some() {
    while (!losses_.empty() && network_.sent() >= losses_.back().after) {
      auto const loss = losses_.back();
      losses_.pop_back();
      if (is_lost_[static_cast<std::size_t>(loss.rank)]) continue;
      if (!loss.stops) {
        take_for_lost(loss.rank);
        continue;
      }
      is_lost_[static_cast<std::size_t>(loss.rank)] = true;
      stopped_.push_back(loss);
    }
    if (!stopped_.empty() && network_.sent() >= stopped_.front().until) wake_first();
  }

  void take_for_lost(int lost) {
    is_lost_[static_cast<std::size_t>(lost)] = true;
    is_gone_[static_cast<std::size_t>(lost)] = true;
    is_left_[static_cast<std::size_t>(lost)] = false;
    network_.lose(lost, random_);
    for (auto& unheard : unheard_) unheard.push_back(lost);
  }
  void wake_first() {
    is_lost_[static_cast<std::size_t>(stopped_.front().rank)] = false;
    stopped_.pop_front();
  }

  // Its actions before it hears of that harm no rank.
  void see_it_told(std::size_t r) {
    for (int i = 0; i < 1000 && !ranks_[r]->ends(); ++i) {
      act(r, true);
      for (std::size_t other = 0; other < ranks_.size(); ++other)
        if (auto const got = network_.next_for(static_cast<int>(other), random_); got.from >= 0)
          ranks_[other]->engine.receive(got.from, got.message, now_);
    }
    EXPECT_TRUE(ranks_[r]->ends() == Rank::What::was_left) << "rank " << r;
    is_lost_[r] = true;
  }

  std::mt19937 random_;
  ScriptedNetwork network_;
  Hosts const hosts_;
  std::vector<Loss> losses_;  // the last comes first
  bool const resizes_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<std::vector<int>> unheard_;  // [rank]: losses it does not know of
  std::vector<int> begun_, left_;          // [rank]: runs
  std::vector<bool> is_lost_;              // or stopped: it does nothing
  std::vector<bool> is_gone_;              // lost, not stopped
  std::vector<bool> is_left_;              // by the others, for its silence, and may not know yet
  std::size_t successions_ = 0;
  std::deque<Loss> stopped_;
  std::int64_t now_ = 0;
};

// Nobody is lost. Its counts are added to `all`.
inline void play(Schedule const& s, rank_counters& all) {
  Play play(s);
  play();
  auto const c = play.counters();
  EXPECT_EQ(c.tasks_stolen, c.tasks_given);
  EXPECT_LE(c.window_tasks, c.tasks_stolen);
  all.tasks_stolen += c.tasks_stolen;
  all.window_tasks += c.window_tasks;
}

}  // namespace nigh::tests
