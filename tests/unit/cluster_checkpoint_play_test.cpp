// SPDX-License-Identifier: Apache-2.0
// Checkpoints in engines on a scripted network, which loses any rank at any message: a step that is
// kept stays.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "checkpoint_ranks.hpp"
#include "cluster_rank.hpp"

namespace {

using namespace nigh::cluster;
using namespace nigh::tests;

// Each rank keeps the steps of a name of its own, one after the other, and looks for names of
// others between them.
class CheckpointPlay {
 public:
  CheckpointPlay(unsigned seed, int ranks)
      : random_(seed), network_(ranks), is_lost_(static_cast<std::size_t>(ranks)) {
    Rank::Rules rules;
    rules.policies.supervised = true;
    rules.policies.pieces = {6, 2};
    for (int r = 0; r < ranks; ++r) {
      ranks_.push_back(std::make_unique<Rank>(r, reaches(r, ranks), network_, rules));
      ranks_.back()->engine.begin();
    }
    states_.resize(ranks_.size());
  }

  // Until all that are left are done. losses: once so many messages have been sent, that rank is
  // lost.
  void go_on(std::vector<std::pair<std::size_t, int>> losses = {}) {
    for (int step = 0; step < 100'000; ++step) {
      std::erase_if(losses, [&](auto const& loss) {
        bool const is_now = network_.sent() >= loss.first;
        if (is_now) lose(loss.second);
        return is_now;
      });
      act(random_() % ranks_.size());
      if (testing::Test::HasFatalFailure() || (losses.empty() && is_done())) return;
      if (is_done()) return lose(losses.back().second), go_on();
    }
    FAIL() << "it ends";
  }
  void lose(int rank) {
    if (is_lost_[static_cast<std::size_t>(rank)]) return;
    is_lost_[static_cast<std::size_t>(rank)] = true;
    network_.lose(rank, random_);
    for (auto& state : states_) state.unheard.push_back(rank);
  }
  void begin_anew(std::int64_t steps) {
    for (auto& state : states_) state.until += steps;
  }

  // All that was kept is there, at three ranks, or at all that are left.
  void see_all_kept() {
    std::size_t left = 0;
    for (bool const lost : is_lost_) left += !lost;
    for (std::size_t owner = 0; owner < ranks_.size(); ++owner) {
      std::multiset<std::int64_t> held;
      for (std::size_t r = 0; r < ranks_.size(); ++r)
        if (!is_lost_[r])
          ranks_[r]->engine.checkpoint(
              [&](Checkpoints& c) { held.insert(step_in(c.newest(name_of(owner)))); });
      ASSERT_GE(*held.rbegin(), states_[owner].kept) << name_of(owner);
      if (*held.rbegin() == 0) continue;
      EXPECT_GE(held.count(*held.rbegin()), std::min<std::size_t>(left, 3)) << name_of(owner);
    }
  }
  std::size_t messages() const { return network_.sent(); }

 private:
  struct CheckpointCalls {
    std::int64_t until = 4, kept = 0;
    std::size_t seeks = 0;
    bool keeps = false, looks = false;
    std::int64_t known = 0;  // kept when it began to look
    WaitingCall keeping, looking;
    std::vector<int> unheard;
  };

  static std::string name_of(std::size_t rank) { return "block " + std::to_string(rank); }
  bool is_done() const {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      auto const& s = states_[r];
      if (!is_lost_[r] && (s.kept < s.until || s.looks || !s.unheard.empty())) return false;
    }
    return network_.under_way() == 0;
  }

  void act(std::size_t r) {
    if (is_lost_[r]) return;
    auto& rank = *ranks_[r];
    auto& s = states_[r];
    if (!s.unheard.empty() && random_() % 8 == 0) {
      rank.engine.lose(s.unheard.back(), 0);
      s.unheard.pop_back();
    }
    auto const self = static_cast<int>(r);
    if (auto const got = network_.next_for(self, random_); got.from >= 0)
      rank.engine.receive(got.from, got.message, 0);
    collect(r);
    if (!s.keeps && s.kept < s.until && random_() % 4 == 0) keep(r);
    if (!s.looks && s.kept < s.until && random_() % 4 == 0) look(r);
    collect(r);
  }
  void keep(std::size_t r) {
    auto& s = states_[r];
    s.keeps = true;
    s.keeping = {};
    auto const name = name_of(r);
    ranks_[r]->engine.checkpoint([&](Checkpoints& c) {
      c.keep(&s.keeping, name, s.kept + 1, content_of(name, s.kept + 1));
    });
  }
  void look(std::size_t r) {
    auto& s = states_[r];
    s.looks = true;
    s.looking = {};
    s.seeks = random_() % ranks_.size();
    s.known = states_[s.seeks].kept;
    ranks_[r]->engine.checkpoint([&](Checkpoints& c) { c.find(&s.looking, name_of(s.seeks)); });
  }
  void collect(std::size_t r) {
    auto& s = states_[r];
    for (auto& finished : ranks_[r]->engine.take_finished()) WaitingCall::end(std::move(finished));
    if (s.keeps && s.keeping.has_ended) {
      s.keeps = false;
      ++s.kept;
    }
    if (!s.looks || !s.looking.has_ended) return;
    s.looks = false;
    auto const& found = s.looking.found;
    ASSERT_GE(step_in(found), s.known) << name_of(s.seeks);
    if (found) {
      ASSERT_EQ(*found->content, *content_of(name_of(s.seeks), found->step));
    }
  }

  std::mt19937 random_;
  ScriptedNetwork network_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::vector<CheckpointCalls> states_;
  std::vector<bool> is_lost_;
};

TEST(CheckpointPlays, KeepsAllWhereNobodyIsLost) {
  for (unsigned seed = 1; seed < 40; ++seed) {
    CheckpointPlay play(seed, 1 + static_cast<int>(seed % 7));
    play.go_on();
    play.see_all_kept();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

// Each rank, lost at each message; and with it another, a little later, or at once.
TEST(CheckpointPlays, KeepsAllWhicheverRankIsLostWhenever) {
  unsigned seed = 1000;
  for (int const ranks : {2, 3, 4, 5}) {
    CheckpointPlay whole(seed, ranks);
    whole.go_on();
    for (std::size_t at = 0; at < whole.messages(); ++at, ++seed) {
      int const first = static_cast<int>(seed) % ranks;
      CheckpointPlay play(seed, ranks);
      std::vector<std::pair<std::size_t, int>> losses{{at, first}};
      if (seed % 2 == 0 && ranks > 2)
        losses.push_back(
            {at + seed % 16, (first + 1 + static_cast<int>(seed / 8) % (ranks - 1)) % ranks});
      play.go_on(losses);
      play.see_all_kept();
      if (testing::Test::HasFailure())
        FAIL() << "seed " << seed << ", " << ranks << " ranks, message " << at;
    }
  }
}

TEST(CheckpointPlays, KeepsAllUntilOneRankIsLeft) {
  for (unsigned seed = 5000; seed < 5200; ++seed) {
    int const ranks = 3 + static_cast<int>(seed % 6);
    std::vector<int> order(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) order[static_cast<std::size_t>(r)] = r;
    std::mt19937 random(seed);
    std::shuffle(order.begin(), order.end(), random);
    CheckpointPlay play(seed, ranks);
    play.go_on();
    for (int i = 0; i + 1 < ranks; ++i) {
      play.lose(order[static_cast<std::size_t>(i)]);
      if (i % 2 == 0) play.begin_anew(2);
      play.go_on();
      play.see_all_kept();
      if (testing::Test::HasFailure()) FAIL() << "seed " << seed << ", loss " << i;
    }
  }
}

}  // namespace
