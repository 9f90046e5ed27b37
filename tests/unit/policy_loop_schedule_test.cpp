// SPDX-License-Identifier: Apache-2.0
// Every schedule runs every step exactly once, whoever takes when.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "policy/loops/lone_start.hpp"
#include "policy/loops/loop_schedule.hpp"
#include "settings/schedule_names.hpp"

namespace {

using nigh::schedule_kind;
using nigh::policy::Hand;
using nigh::policy::LocalMap;
using nigh::policy::LoopSchedule;
using nigh::policy::LoopWorkers;
using nigh::policy::Steps;
using nigh::policy::Units;

constexpr schedule_kind kinds[] = {schedule_kind::static_blocks, schedule_kind::static_chunks,
                                   schedule_kind::dynamic,       schedule_kind::guided,
                                   schedule_kind::adaptive,      schedule_kind::local};

LoopWorkers loop_workers_of(int workers, int homes) {
  LoopWorkers loop_workers;
  for (int h = 0; h < homes; ++h) loop_workers.workers_at.push_back(0);
  for (int w = 0; w < workers; ++w) {
    int const home = w * homes / workers;
    loop_workers.home_of.push_back(home);
    loop_workers.rank_of.push_back(loop_workers.workers_at[static_cast<std::size_t>(home)]++);
  }
  for (int h = 0; h < homes; ++h) loop_workers.home_of_domain.push_back(h);
  return loop_workers;
}

// Workers that take turns as a random number says, and keep to the rules of loops/loop.cpp.
class Interpreter {
 public:
  Interpreter(LoopSchedule const& how, int workers, unsigned seed)
      : how_(how), hands_(static_cast<std::size_t>(workers)), random_(seed) {
    for (int s = 0; s < how.spans(); ++s) spans_.push_back(how.units_of(s));
  }

  // Calls run(worker, steps) until nothing is left. Some workers come late, some never.
  template <class Run>
  void play(Run run) {
    auto const workers = hands_.size();
    std::size_t const never = random_() % workers;
    std::size_t const late = random_() % 20;
    for (std::size_t turn = 0; anything_left(); ++turn) {
      auto const w = random_() % workers;
      if (workers > 1 && (w == never || turn < late * w)) continue;
      if (!hands_[w].units.empty())
        run(static_cast<int>(w), how_.take_steps(hands_[w]));
      else
        refill(static_cast<int>(w));
    }
  }

 private:
  Units& span(int s) { return spans_[static_cast<std::size_t>(s)]; }
  bool anything_left() const {
    auto const has = [](Units u) { return !u.empty(); };
    return std::any_of(spans_.begin(), spans_.end(), has) ||
           std::any_of(hands_.begin(), hands_.end(), [&](Hand const& h) { return has(h.units); });
  }
  void refill(int w) {
    auto& hand = hands_[static_cast<std::size_t>(w)];
    int const mine = how_.span_of(w);
    if (auto& own = span(mine); !own.empty()) {
      auto const n = how_.owner_takes(own.count());
      ASSERT_GE(n, 1u);
      ASSERT_LE(n, own.count());
      hand = {{own.begin, own.begin + n}, mine, 0};
      own.begin += n;
      return;
    }
    int const victim = static_cast<int>(random_() % spans_.size());
    auto& theirs = span(victim);
    if (theirs.empty()) return;
    auto const n = how_.helper_takes(theirs.count());
    ASSERT_GE(n, 1u);
    ASSERT_LE(n, theirs.count());
    hand = {{theirs.end - n, theirs.end}, victim, 0};
    theirs.end -= n;
    if (how_.splits() && n > 1) {
      auto const cut = hand.units.begin + how_.owner_takes(n);
      span(mine) = {cut, hand.units.end};
      hand.units.end = cut;
    }
  }

  LoopSchedule const& how_;
  std::vector<Units> spans_;
  std::vector<Hand> hands_;
  std::mt19937 random_;
};

void expect_each_step_once(LoopSchedule const& how, std::size_t steps, int workers, unsigned seed,
                           std::string const& what) {
  std::vector<int> seen(steps);
  Interpreter(how, workers, seed).play([&](int, Steps s) {
    ASSERT_LT(s.begin, s.end) << what;
    ASSERT_LE(s.end, steps) << what;
    for (auto i = s.begin; i < s.end; ++i) ++seen[i];
  });
  for (std::size_t i = 0; i < steps; ++i) ASSERT_EQ(seen[i], 1) << what << ", step " << i;
}

TEST(LoopSchedule, RunsEveryStepOnceForAllSizesWorkersAndChunks) {
  for (auto const kind : kinds)
    for (int workers = 1; workers <= 6; ++workers)
      for (int homes = 1; homes <= std::min(workers, 3); ++homes) {
        auto const loop_workers = loop_workers_of(workers, homes);
        for (std::size_t steps = 0; steps <= 40; ++steps)
          for (std::size_t chunk : {1u, 2u, 3u, 7u, 40u, 1000u}) {
            LoopSchedule const how(kind, chunk, steps, loop_workers);
            expect_each_step_once(how, steps, workers, static_cast<unsigned>(steps * 31 + chunk),
                                  nigh::settings::to_string(kind, chunk) + " of " +
                                      std::to_string(steps) + " by " + std::to_string(workers));
          }
      }
}

// Runs of random lengths over random domains; the array may end before the loop does, or behind it.
TEST(LoopSchedule, RunsEveryStepOnceWhereverAnArrayIsPlaced) {
  std::mt19937 random(20260917);
  for (int round = 0; round < 3000; ++round) {
    int const homes = 2 + static_cast<int>(random() % 3);
    int const workers = homes + static_cast<int>(random() % 5);
    auto const loop_workers = loop_workers_of(workers, homes);
    int const domains = round % 10 == 0 ? 12 : homes;  // more than the loop's machine has
    std::vector<LocalMap::Run> runs;
    for (std::size_t at = 0, n = 1 + random() % 20; n > 0; --n) {
      auto const end = at + random() % 9;
      runs.push_back({at, end, static_cast<int>(random() % static_cast<unsigned>(domains))});
      at = end;
    }
    LocalMap const map(runs);
    std::size_t const first = random() % 60, count = random() % 100, grain = 1 + random() % 4;
    std::size_t const steps = (count + grain - 1) / grain;
    auto const what = "round " + std::to_string(round);
    if (grain == 1) {
      expect_each_step_once({schedule_kind::local, 1, steps, loop_workers, &map, first}, steps,
                            workers, static_cast<unsigned>(random()), what);
    } else {
      auto const scaled = map.in_steps(first, grain);
      expect_each_step_once({schedule_kind::local, 1, steps, loop_workers, &scaled, 0}, steps,
                            workers, static_cast<unsigned>(random()), what);
    }
  }
}

TEST(LoopSchedule, LocalBlocksLieWhereTheDataDoes) {
  auto const loop_workers = loop_workers_of(4, 2);
  // Cyclic pieces of ten, and the rest: what domain 0 has, its workers 0 and 1 begin with.
  LocalMap const map({{0, 10, 0}, {10, 20, 1}, {20, 30, 0}, {30, 40, 1}});
  std::size_t const first = 5, steps = 40;
  LoopSchedule const how(schedule_kind::local, 1, steps, loop_workers, &map, first);
  std::vector<int> begun_by(steps, -1);
  for (int w = 0; w < 4; ++w) {
    Hand hand{how.units_of(w), w, 0};
    while (!hand.units.empty()) {
      auto const s = how.take_steps(hand);
      for (auto i = s.begin; i < s.end; ++i) begun_by[i] = w;
    }
  }
  for (std::size_t i = 0; i < steps; ++i) {
    auto const at = first + i;
    int const domain = at >= 40 ? 1 : static_cast<int>(at / 10 % 2);
    EXPECT_EQ(loop_workers.home_of[static_cast<std::size_t>(begun_by[i])], domain) << at;
  }
}

TEST(LoopSchedule, StaticGivesBlocksThatDifferByOneAndChunksInTurn) {
  auto const loop_workers = loop_workers_of(4, 1);
  LoopSchedule const blocks(schedule_kind::static_blocks, 1, 10, loop_workers);
  EXPECT_EQ(blocks.units_of(0), (Units{0, 3}));
  EXPECT_EQ(blocks.units_of(1), (Units{3, 6}));
  EXPECT_EQ(blocks.units_of(3), (Units{8, 10}));
  LoopSchedule const chunks(schedule_kind::static_chunks, 3, 20, loop_workers);
  Hand hand{chunks.units_of(1), 1, 0};
  EXPECT_EQ(chunks.take_steps(hand), (Steps{3, 6}));
  EXPECT_EQ(chunks.take_steps(hand), (Steps{15, 18}));
  EXPECT_TRUE(hand.units.empty());
}

// The whole range is divided, without overflow, in pieces that 32 bits can count.
TEST(LoopSchedule, CoversRangesBeyondThirtyTwoBits) {
  auto const loop_workers = loop_workers_of(3, 1);
  for (std::size_t steps :
       {(std::size_t{1} << 31) - 1, std::size_t{1} << 31, (std::size_t{1} << 31) + 1,
        (std::size_t{1} << 32) - 1, std::size_t{1} << 32, (std::size_t{1} << 32) + 5,
        std::size_t(-1) - 1, std::size_t(-1)})
    for (auto const kind : {schedule_kind::static_blocks, schedule_kind::guided,
                            schedule_kind::adaptive, schedule_kind::local})
      for (std::size_t chunk : {std::size_t{1}, std::size_t{1000}, std::size_t(-1)}) {
        LoopSchedule const how(kind, chunk, steps, loop_workers);
        std::vector<Steps> pieces;
        Interpreter(how, 3, 1).play([&](int, Steps s) { pieces.push_back(s); });
        std::sort(pieces.begin(), pieces.end(), [](Steps a, Steps b) { return a.begin < b.begin; });
        std::size_t at = 0;
        for (Steps const s : pieces) {
          ASSERT_EQ(s.begin, at) << steps;
          ASSERT_GT(s.end, s.begin);
          at = s.end;
        }
        EXPECT_EQ(at, steps);
      }
}

TEST(LoopSchedule, CallsNoMoreWorkersThanThereArePieces) {
  auto const loop_workers = loop_workers_of(8, 2);
  EXPECT_EQ(LoopSchedule(schedule_kind::adaptive, 1, 3, loop_workers).useful_workers(), 3);
  EXPECT_EQ(LoopSchedule(schedule_kind::adaptive, 1, 300, loop_workers).useful_workers(), 8);
  EXPECT_EQ(LoopSchedule(schedule_kind::dynamic, 100, 300, loop_workers).useful_workers(), 3);
}

TEST(LoopSchedule, PiecesOfAlikeIterationsAreNotSmall) {
  auto const loop_workers = loop_workers_of(2, 1);
  LoopSchedule how(schedule_kind::adaptive, 1, 12'800, loop_workers);
  EXPECT_EQ(how.owner_takes(10), 1U);
  EXPECT_EQ(how.helper_takes(10), 5U);
  how.expect_alike();
  EXPECT_EQ(how.owner_takes(6400), 800U);
  EXPECT_EQ(how.owner_takes(500), 100U);  // a 64th of a worker's share
  EXPECT_EQ(how.owner_takes(10), 10U);
  EXPECT_EQ(how.helper_takes(500), 250U);
  EXPECT_EQ(how.helper_takes(150), 100U);
  LoopSchedule few(schedule_kind::adaptive, 1, 100, loop_workers);
  few.expect_alike();
  EXPECT_EQ(few.owner_takes(10), 1U);
}

TEST(LoneStart, BeginsSmallAndWakesWhenItPays) {
  using nigh::policy::LoneStart;
  EXPECT_FALSE(LoneStart::is_possible(63, 2));  // a piece would be much of a worker's share
  EXPECT_TRUE(LoneStart::is_possible(64, 2));
  LoneStart lone(12'800, 2);
  EXPECT_EQ(lone.piece(), 100U);
  EXPECT_FALSE(lone.wakes(1'000'000'000, 0));  // nothing has been run
  lone.take(100);
  EXPECT_FALSE(lone.wakes(1'999, 0));
  EXPECT_TRUE(lone.wakes(2'000, 0));  // 127 times as long are left
  EXPECT_EQ(lone.piece(), 100U);
  lone.take(12'000);
  EXPECT_EQ(lone.piece(), 6050U);
  EXPECT_FALSE(lone.wakes(300'000, 0));  // 17 us are left
  EXPECT_TRUE(lone.wakes(400'000, 0));   // 23 us

  // For the loops to come, the whole of this one counts.
  LoneStart often(12'800, 2);
  often.take(100);
  EXPECT_FALSE(often.wakes(499, LoneStart::long_streak_ns));
  EXPECT_TRUE(often.wakes(500, LoneStart::long_streak_ns));
  often.take(6'300);
  EXPECT_FALSE(often.wakes(2'000, LoneStart::long_streak_ns));  // 4 us
  EXPECT_TRUE(often.wakes(2'001, LoneStart::long_streak_ns));
}

TEST(LoneStart, CountsLoopsThatFollowEachOtherClosely) {
  nigh::policy::LoneStreak streak;
  EXPECT_EQ(streak.spent_ns(0), 0);
  streak.add(0, 10'000);
  streak.add(20'000, 21'000);  // too short to gain from others
  streak.add(210'000, 240'000);
  EXPECT_EQ(streak.spent_ns(250'000), 40'000);
  EXPECT_EQ(streak.spent_ns(450'000), 0);
  streak.add(450'000, 460'000);
  EXPECT_EQ(streak.spent_ns(460'000), 10'000);
}

}  // namespace
