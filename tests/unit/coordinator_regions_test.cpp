// SPDX-License-Identifier: Apache-2.0
// The threads that regions can use, learnt from their runs: a program that runs one region after
// another as the advice says, with times that a formula makes up. Its clock counts what trials
// really cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/regions.hpp"
#include "coordinator/protocol/trial_runs.hpp"

namespace nigh::coordinator {
namespace {

using Seconds = double;
using Scaling = std::function<Seconds(int threads)>;

Scaling amdahl(double serial) {
  return [=](int n) { return serial + (1 - serial) / n; };
}
// As fast as `enough` threads can move its data.
Scaling memory_bound(int enough) {
  return [=](int n) { return 1.0 / std::min(n, enough); };
}
// Each thread beyond so many costs as much as one there gains.
Scaling slower_beyond(int best) {
  return [=](int n) { return 1.0 / std::min(n, best) + 0.1 / best * std::max(0, n - best); };
}

struct Shape {
  char const* name;
  Scaling scaling;
};
std::vector<Shape> shapes() {
  return {{"ideal", amdahl(0)},
          {"serial 1%", amdahl(0.01)},
          {"serial 5%", amdahl(0.05)},
          {"serial 30%", amdahl(0.3)},
          {"serial", amdahl(1)},
          {"memory 2", memory_bound(2)},
          {"memory 3", memory_bound(3)},
          {"memory 6", memory_bound(6)},
          {"memory 12", memory_bound(12)},
          {"slower beyond 1", slower_beyond(1)},
          {"slower beyond 4", slower_beyond(4)},
          {"slower beyond 10", slower_beyond(10)}};
}

// Runs one region over and over with a lease of so many cpus.
class MadeUpProgram {
 public:
  explicit MadeUpProgram(int cpus) : cpus_(cpus), regions_(cpus, 16) {}

  void once(RegionId id, Scaling const& scaling, Seconds of_one, double noise = 0,
            int percent = 1) {
    auto const time = [&](int n) { return of_one * scaling(n); };
    auto const& advice = advice_[id];
    int threads = cpus_;
    if (advice.limit > 0) threads = std::min(threads, static_cast<int>(advice.limit));
    int const usual = threads;
    bool is_reported = false, has_trials_team = false;
    if (advice.trial != 0) {
      if (advice.trial != trial_) trial_ = advice.trial, runs_ = 0, usual_ = 0;
      if (runs_ < TrialRuns::count) {
        has_trials_team = TrialRuns::has_its_team(runs_);
        if (has_trials_team) threads = std::min(cpus_, static_cast<int>(advice.size));
        is_reported = TrialRuns::is_reported(runs_++);
      }
    }
    std::uniform_real_distribution<double> disturbed(1 - noise, 1 + noise);
    Seconds const took = time(threads) * (noise > 0 ? disturbed(random_) : 1) + preempted();
    if (has_trials_team && usual_ > 0 &&
        TrialRuns::takes_too_long(took, static_cast<std::uint32_t>(threads), usual_,
                                  static_cast<std::uint32_t>(usual)))
      is_reported = true, runs_ = TrialRuns::count;
    else if (is_reported && !has_trials_team)
      usual_ = took;
    largest_ = std::max(largest_, threads);
    now_ += took;
    spent_ += took;
    unreported_ += took;
    cost_ += std::max(0.0, time(threads) - time(usual));
    auto const ns = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(took * 1e9));
    bool const is_long = ns >= Report::every_ns;
    if (is_reported || is_long || due_ == id) {
      report({id, static_cast<std::uint32_t>(threads), ns, is_reported ? trial_ : 0}, percent);
      if (!is_reported) due_ = 0;
    }
    if (unreported_ * 1e9 >= Report::every_ns) {
      unreported_ = 0;
      if (!is_long) due_ = id;
    }
  }

  // From now on, some runs are held up for long by what else there is on the host.
  void disturb(double how_often, Seconds how_long) {
    how_often_ = how_often;
    how_long_ = how_long;
  }
  // From now on, others use the host, too.
  void share(bool is_shared) { is_shared_ = is_shared; }
  // The largest team since this was asked last.
  int largest() { return std::exchange(largest_, 0); }
  // Other things.
  void pause(Seconds s) { now_ += s; }

  Regions& regions() { return regions_; }
  Advice const& advice(RegionId id) { return advice_[id]; }
  Seconds spent() const { return spent_; }
  Seconds cost() const { return cost_; }

 private:
  Seconds preempted() {
    std::bernoulli_distribution is_disturbed(how_often_);
    return how_often_ > 0 && is_disturbed(random_) ? how_long_ : 0;
  }
  void report(Report const& r, int percent) {
    regions_.take(r, percent, static_cast<std::int64_t>(now_ * 1e6), is_shared_);
    for (auto const& a : regions_.take_advice()) advice_[a.region] = a;
  }

  int cpus_;
  Regions regions_;
  std::map<RegionId, Advice> advice_;
  std::uint32_t trial_ = 0, runs_ = 0;
  RegionId due_ = 0;
  Seconds usual_ = 0;  // of the trial's last run with the usual team
  bool is_shared_ = false;
  int largest_ = 0;
  Seconds now_ = 0, spent_ = 0, cost_ = 0, unreported_ = 0;
  double how_often_ = 0;
  Seconds how_long_ = 0;
  std::mt19937_64 random_{1};
};

int found(MadeUpProgram& run) {
  for (auto const& k : run.regions().known())
    if (k.id == 1) return static_cast<int>(k.demand.maximum);
  return 0;
}

// At most 8% slower than the best there is, and no more threads than twice those that do as well.
void expect_good(int maximum, Scaling const& scaling, int cpus, std::string const& what) {
  Seconds best = scaling(1);
  for (int n = 1; n <= cpus; ++n) best = std::min(best, scaling(n));
  int as_good = 1;
  while (scaling(as_good) > 1.05 * best) ++as_good;
  EXPECT_LE(scaling(maximum), 1.08 * best) << what << ", found " << maximum;
  EXPECT_LE(maximum, std::max(2 * as_good, as_good + 2)) << what << ", found " << maximum;
}

TEST(Regions, FindWhatTheyCanUseAtLittleCost) {
  for (int cpus : {2, 3, 8, 32})
    for (auto const& [name, scaling] : shapes())
      for (Seconds of_one : {1e-3, 0.03}) {
        auto const what = std::string(name) + ", " + std::to_string(cpus) + " cpus, " +
                          std::to_string(of_one) + " s";
        MadeUpProgram run(cpus);
        while (run.spent() < std::max(12.0, 4000 * of_one)) run.once(1, scaling, of_one);
        if (scaling(1) == scaling(cpus)) {
          EXPECT_EQ(found(run), 0) << what << ": more threads are no better, and no worse";
        } else {
          ASSERT_GT(found(run), 0) << what;
          expect_good(found(run), scaling, cpus, what);
        }
        EXPECT_LE(run.cost(), 0.01 * run.spent()) << what;
      }
}

// At any moment, not only in the end.
TEST(Regions, NeverCostMoreThanTheirPart) {
  for (int percent : {1, 2})
    for (auto const& [name, scaling] : shapes())
      for (Seconds of_one : {1e-4, 0.01, 0.3, 5.0}) {
        MadeUpProgram run(16);
        for (int i = 0; i < 5000; ++i) {
          run.once(1, scaling, of_one, 0.05, percent);
          ASSERT_LE(run.cost(), 0.011 * percent * run.spent()) << name << ' ' << of_one << ' ' << i;
        }
      }
}

TEST(Regions, ThatAreLongAndRareAreNotTried) {
  MadeUpProgram run(8);
  for (int i = 0; i < 100; ++i) run.once(1, amdahl(0.1), 20), run.pause(60);
  EXPECT_EQ(run.cost(), 0);
  EXPECT_EQ(run.advice(1).trial, 0U);
}

TEST(Regions, OfAProgramThatSharesAreTriedSooner) {
  auto const runs_until_known = [](int percent) {
    MadeUpProgram run(8);
    int runs = 0;
    while (found(run) == 0 && ++runs < 100'000) run.once(1, amdahl(0.1), 0.01, 0, percent);
    return runs;
  };
  EXPECT_LT(runs_until_known(2), runs_until_known(1));
  EXPECT_LT(runs_until_known(1), 100'000);
}

// Levels of a multigrid cycle: the region is the same, its work is not.
TEST(Regions, WhoseRunsDifferAreLeftAlone) {
  auto const cycle = {1.0, 0.125, 0.016, 0.002, 0.016, 0.125};
  for (auto const& work : {std::vector<double>(cycle), std::vector<double>{1, 0.01}}) {
    MadeUpProgram run(8);
    for (int i = 0; i < 200'000; ++i)
      run.once(1, amdahl(0.05), 0.002 * work[static_cast<std::size_t>(i) % work.size()]);
    EXPECT_LE(run.cost(), 0.01 * run.spent());
    EXPECT_TRUE(found(run) == 0 || found(run) == 8) << found(run);
  }
  MadeUpProgram noisy(8);
  for (int i = 0; i < 100'000; ++i) noisy.once(1, amdahl(0.05), 0.002, 0.9);
  EXPECT_LE(noisy.cost(), 0.01 * noisy.spent());
  EXPECT_EQ(found(noisy), 0);
}

// Other programs hold up one run in twenty for twenty times its length: half of the time is spent
// in such runs.
TEST(Regions, AreLearntDespiteDisturbedRuns) {
  MadeUpProgram run(8);
  run.disturb(0.05, 0.02);
  int runs = 0, unclear = 0;
  while (run.spent() < 120) {
    run.once(1, memory_bound(2), 0.008);
    if (run.spent() > 20) {
      ASSERT_NE(found(run), 1);
      ++runs;
      unclear += found(run) == 0 || found(run) > 4 ? 1 : 0;
    }
  }
  // Two of the last five runs with a size may be disturbed; then it does not count for a while.
  EXPECT_LE(unclear, runs / 4) << runs;
}

TEST(Regions, AreLearntAnewWhenTheyChange) {
  MadeUpProgram run(16);
  while (run.spent() < 30) run.once(1, memory_bound(4), 0.001);
  EXPECT_LE(found(run), 5);
  while (run.spent() < 90) run.once(1, amdahl(0), 0.01);  // a larger input
  EXPECT_EQ(found(run), 16);
  EXPECT_LE(run.cost(), 0.01 * run.spent());
}

TEST(Regions, AreKnownAgain) {
  MadeUpProgram first(16);
  while (first.spent() < 30) first.once(1, memory_bound(4), 0.001);
  MadeUpProgram second(16);
  second.regions().recall(first.regions().known());
  EXPECT_EQ(second.regions().known(), first.regions().known());
  EXPECT_EQ(second.regions().demand(1, {}), first.regions().demand(1, {}));
  ASSERT_EQ(second.regions().take_advice().size(), 1U);
  EXPECT_EQ(second.regions().demand(1, {2, 0}).maximum, 2) << "no more than the program says";
  EXPECT_EQ(second.regions().demand(1, {7, 7}).maximum, 7) << "unless it knows";
  EXPECT_EQ(second.regions().demand(2, {5, 0}), (policy::ThreadDemand{5, 3}));
}

// One that sleeps, or waits for a disk.
TEST(Regions, WhoseTimeDoesNotDependOnThreadsAreLeftAlone) {
  for (double noise : {0.0, 0.004, 0.03}) {
    MadeUpProgram run(8);
    for (int i = 0; i < 50'000; ++i) {
      run.once(1, amdahl(1), 0.001, noise);
      ASSERT_EQ(run.advice(1).limit, 0U) << noise << ' ' << i;
      ASSERT_EQ(run.advice(1).maximum, 0U) << noise << ' ' << i;
    }
    ASSERT_EQ(run.regions().known().size(), 1U);
    if (noise < 0.01) {
      EXPECT_TRUE(run.regions().known()[0].is_indifferent);
    }
    EXPECT_EQ(run.regions().demand(1, {}), (policy::ThreadDemand{8, 4}));
    run.largest();
    for (int i = 0; i < 100; ++i) run.once(1, amdahl(1), 0.001, noise);
    EXPECT_EQ(run.largest(), 8);
  }
}

// The host was busy, or the input small, when its profile was made.
TEST(Regions, OfAProfileThatIsWrongAreMeasuredAgain) {
  for (int wrong : {1, 2, 4}) {
    MadeUpProgram run(8);
    run.regions().recall(
        {{.id = 1, .times = {{wrong, 10'000'000, 5}, {8, 13'000'000, 5, 200'000}}}});
    run.regions().take_advice();
    EXPECT_EQ(run.regions().demand(1, {}).maximum, wrong);
    int runs = 0;
    // As long with so many threads as it was then; but more of them do help.
    while (run.regions().demand(1, {}).maximum < 8 && ++runs < 10'000)
      run.once(1, amdahl(0), 0.01 * wrong);
    EXPECT_LT(runs, 10'000) << wrong;
    while (run.advice(1).trial != 0) run.once(1, amdahl(0), 0.01 * wrong);
    run.largest();
    for (int i = 0; i < 100; ++i) run.once(1, amdahl(0), 0.01 * wrong);
    EXPECT_EQ(run.largest(), 8) << wrong;
  }
}

// Its maximum is tried again now and then, ever more rarely, and stays what it is.
TEST(Regions, HaveAMaximumThatIsDoubted) {
  MadeUpProgram run(8);
  while (run.spent() < 10) run.once(1, slower_beyond(2), 0.002);
  EXPECT_EQ(run.regions().demand(1, {}).maximum, 2);
  int larger = 0;
  for (run.largest(); run.spent() < 400;) {
    run.once(1, slower_beyond(2), 0.002);
    ASSERT_LE(run.regions().known()[0].demand.maximum, 2U);
    larger += run.largest() > 2 ? 1 : 0;
  }
  EXPECT_GT(larger, 0);
  EXPECT_LE(larger, 5 * 8);
  EXPECT_LE(run.cost(), 0.01 * run.spent());
}

TEST(Regions, ThatGainFromMoreThreadsLaterGetThem) {
  MadeUpProgram run(8);
  while (run.spent() < 20) run.once(1, slower_beyond(2), 0.002);
  EXPECT_EQ(run.regions().demand(1, {}).maximum, 2);
  // As fast with two as ever, so that nothing shows but by trying.
  auto const scales = [](int n) { return 1.0 / n; };
  while (run.spent() < 600 && run.regions().known()[0].demand.maximum < 8)
    run.once(1, scales, 0.002);
  EXPECT_EQ(run.regions().known()[0].demand.maximum, 8U);
}

TEST(Regions, AreNotLimitedByWhatIsSeenOnASharedHost) {
  MadeUpProgram run(8);
  run.share(true);
  while (run.spent() < 60) {
    run.once(1, slower_beyond(1), 0.002, 0.1, 2);
    ASSERT_EQ(run.advice(1).limit == 0 || run.advice(1).limit == 8, true);
    ASSERT_EQ(run.regions().demand(1, {}).maximum, 8);
  }
  for (auto const& k : run.regions().known()) EXPECT_TRUE(k.times.empty()) << "not for the profile";
  run.share(false);
  while (run.spent() < 120) run.once(1, slower_beyond(1), 0.002);
  EXPECT_EQ(found(run), 1);
}

// With fewer threads it is far slower than it can be by its work alone, as where its data does not
// fit their caches.
TEST(Regions, EndATrialThatTakesTooLong) {
  auto const far_slower = [](int n) { return n == 8 ? 1.0 : 40.0; };
  MadeUpProgram run(8);
  int slow = 0, trials = 0;
  std::uint32_t last = 0;
  while (run.spent() < 100) {
    auto const trial = run.advice(1).trial;
    trials += trial != 0 && trial != last ? 1 : 0;
    last = trial;
    auto const before = run.cost();
    run.once(1, far_slower, 0.001);
    slow += run.cost() > before ? 1 : 0;
  }
  EXPECT_GT(trials, 0);
  EXPECT_EQ(slow, trials) << "one run each";
  EXPECT_LE(run.cost(), 0.01 * run.spent());
}

TEST(Regions, OfProfilesLeaveRoomForOthers) {
  MadeUpProgram run(8);
  std::vector<KnownRegion> many;
  for (RegionId id = 1; id <= 1000; ++id) many.push_back({.id = id, .times = {{8, 1000, 5}}});
  run.regions().recall(many);
  EXPECT_EQ(run.regions().known().size(), 12U);
  for (int i = 0; i < 10; ++i) run.once(2000, amdahl(0), 1);
  EXPECT_EQ(run.regions().known().size(), 13U);
}

TEST(Regions, GivenByTheUserAreNotTriedNorLearnt) {
  MadeUpProgram run(8);
  run.regions().recall({{.id = 1, .is_fixed = true, .demand = {6, 3}}});
  for (int i = 0; i < 10'000; ++i) run.once(1, amdahl(1), 0.001);
  EXPECT_EQ(run.cost(), 0);
  EXPECT_EQ(run.regions().demand(1, {}), (policy::ThreadDemand{6, 3}));
  ASSERT_EQ(run.regions().known().size(), 1U);
  EXPECT_TRUE(run.regions().known()[0].is_fixed);
}

TEST(Regions, ThatEndInTheMiddleOfATrialLeaveRoomForOthers) {
  MadeUpProgram run(8);
  while (run.advice(1).trial == 0) run.once(1, amdahl(0.1), 0.001);
  while (run.spent() < 60) run.once(2, memory_bound(2), 0.001);
  EXPECT_EQ(run.advice(1).trial, 0U);
  EXPECT_LE(run.regions().demand(2, {}).maximum, 3);
}

// Reports of any kind and number, as a program that lies might send them.
TEST(Regions, StayInOrderWhateverTheyAreTold) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    Regions regions(8, 4);
    for (int i = 0; i < 2000; ++i) {
      regions.take(
          {random() % 6, 1 + static_cast<std::uint32_t>(random() % 1024),
           1 + (random() >> (1 + random() % 62)),
           random() % 2 == 0 ? 0 : static_cast<std::uint32_t>(random() % (last_trial + 1))},
          1, static_cast<std::int64_t>(i) * 100'000);
      for (auto const& advice : regions.take_advice()) ASSERT_TRUE(advice.is_valid());
    }
    ASSERT_LE(regions.known().size(), 4U);
    for (auto const& k : regions.known()) ASSERT_TRUE(k.demand.is_valid());
  }
}

// A double beyond 2^63 is no std::int64_t.
TEST(Regions, KnowTimesOfAnyLength) {
  for (std::uint64_t const ns : {std::uint64_t{1}, std::uint64_t{1} << 63, UINT64_MAX}) {
    Regions regions(8, 16);
    for (int i = 0; i < 10; ++i)
      regions.take({.region = 1, .threads = 4, .duration_ns = i % 2 == 0 ? ns : ns / 2 + 1}, 1, i);
    auto const known = regions.known();
    for (auto const& region : known)
      for (auto const& time : region.times) {
        EXPECT_GE(time.median_ns, ns == 1 ? 1 : 1'000'000'000) << ns;
        EXPECT_GE(time.spread_ns, 0) << ns;
      }
    Regions recalled(8, 16);
    recalled.recall({{.id = 1, .times = {{4, INT64_MAX, 9, INT64_MAX}}}});
    auto const again = recalled.known();
    ASSERT_EQ(again.size(), 1U);
    ASSERT_EQ(again[0].times.size(), 1U);
    EXPECT_EQ(again[0].times[0].median_ns, 1'000'000'000'000'000'000) << ns;
  }
}

}  // namespace
}  // namespace nigh::coordinator
