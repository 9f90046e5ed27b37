// SPDX-License-Identifier: Apache-2.0
// Spread: sizes to try and teams, and the choice over landscapes that are made from a seed, with the
// noise that iterations have. Nothing is run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "policy/spread/spread_choice.hpp"
#include "policy/spread/spread_space.hpp"

namespace nigh::policy {
namespace {

using ::testing::ElementsAre;

TEST(SpreadsToTry, HasDivisorsThenDomainsAndFillsGaps) {
  EXPECT_THAT(spreads_to_try(1, 1), ElementsAre(1));
  EXPECT_THAT(spreads_to_try(1, 2), ElementsAre(1, 2));
  EXPECT_THAT(spreads_to_try(2, 14), ElementsAre(1, 2, 4, 7, 14, 28));
  EXPECT_THAT(spreads_to_try(2, 22), ElementsAre(1, 2, 5, 11, 22, 44));
  EXPECT_THAT(spreads_to_try(8, 24), ElementsAre(1, 2, 3, 6, 12, 24, 48, 96, 192));
  EXPECT_THAT(spreads_to_try(1, 13), ElementsAre(1, 3, 7, 13));
}

TEST(SpreadsToTry, IsShortAndReachesBothEnds) {
  for (int domains = 1; domains <= 16; ++domains)
    for (int workers = 1; workers <= 96; ++workers) {
      auto const spreads = spreads_to_try(domains, workers);
      EXPECT_EQ(spreads.front(), 1);
      EXPECT_EQ(spreads.back(), domains * workers);
      EXPECT_THAT(spreads, ::testing::Contains(workers));
      EXPECT_TRUE(std::is_sorted(spreads.begin(), spreads.end(), std::less_equal<>()));
      EXPECT_LE(spreads.size(), 13u) << domains << " x " << workers;
      for (std::size_t i = 1; i < spreads.size(); ++i)
        EXPECT_LE(spreads[i], 4 * spreads[i - 1]) << domains << " x " << workers;
    }
}

// Times of an iteration by configuration; noise as on a machine that others use a little.
class Landscape {
 public:
  Landscape(SpreadSpace space, std::function<double(SpreadConfig const&)> time, std::uint64_t seed)
      : space_(std::move(space)), time_(std::move(time)), random_(seed) {}

  SpreadSpace const& space() const { return space_; }
  SpreadConfig usual() const {
    return {space_.grains.front(), space_.spreads.front(), space_.actives.back()};
  }
  double truth(SpreadConfig const& c) const { return time_(c); }
  double measure(SpreadConfig const& c) {
    std::normal_distribution<double> usual(0, noise);
    std::uniform_real_distribution<double> dice(0, 1);
    double const disturbed = dice(random_) < stumble ? 1 + dice(random_) : 1;
    return truth(c) * std::exp(usual(random_)) * disturbed;
  }
  std::vector<SpreadConfig> all() const {
    std::vector<SpreadConfig> configs;
    for (int s : space_.spreads)
      for (int a : space_.actives)
        for (int g : space_.grains)
          if (s <= a) configs.push_back({g, s, a});
    return configs;
  }
  double least() const {
    double least = truth(usual());
    for (auto const& c : all()) least = std::min(least, truth(c));
    return least;
  }

  double noise = 0.03, stumble = 0;

 private:
  SpreadSpace space_;
  std::function<double(SpreadConfig const&)> time_;
  std::mt19937_64 random_;
};

SpreadSpace const some_space{{1, 2, 4, 7, 14}, {7, 10, 14}, {1, 2, 4}};

// A cache that holds what is worked on at a time from some spread on, what a team costs, memory
// that some cores saturate, and grains that cost by themselves: each as a seed has it.
Landscape made_from(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  auto const between = [&](double low, double high) {
    return low + (high - low) * uniform(random);
  };
  double const fits = between(0.7, 14), gain = between(0, 0.35), team = between(0, 0.04),
               saturated = between(5, 16), grain_cost = between(0, 0.2), grain_best = between(0, 2),
               interaction_seed = between(0, 1e6);
  return {some_space,
          [=](SpreadConfig const& c) {
            double const grain = std::log2(c.grain);
            double const set = fits * c.grain / 2.0;
            double const kept = std::min(1.0, c.spread / set);
            double const cores = 14 / std::min<double>(c.active, saturated);
            double const both =
                0.02 * std::sin(interaction_seed + 3.7 * c.spread + 1.3 * c.active + 5.1 * c.grain);
            return (1 - gain * kept * kept + team * std::log2(c.spread)) * cores *
                   (1 + grain_cost * (grain - grain_best) * (grain - grain_best) / 4) * (1 + both);
          },
          seed};
}

// Until it holds something; the number of iterations that took.
int converge(SpreadChoice& choice, Landscape& l) {
  int iterations = 0;
  for (; !choice.is_holding() && iterations < 1000; ++iterations)
    choice.took(l.measure(choice.next()));
  EXPECT_TRUE(choice.is_holding());
  return iterations;
}

struct Scores {
  double near_best = 0, worse_than_usual = 0, mean_loss = 0;
  int most_trials = 0;
  double mean_trials = 0;
};

Scores score(double noise, double stumble, int landscapes) {
  Scores s;
  for (int i = 0; i < landscapes; ++i) {
    auto l = made_from(static_cast<std::uint64_t>(i));
    l.noise = noise;
    l.stumble = stumble;
    SpreadChoice choice(l.space(), l.usual());
    converge(choice, l);
    double const found = l.truth(choice.held());
    s.near_best += found <= 1.05 * l.least();
    s.worse_than_usual += found > 1.02 * l.truth(l.usual());
    s.mean_loss += found / l.least() - 1;
    s.most_trials = std::max(s.most_trials, choice.trials());
    s.mean_trials += choice.trials();
  }
  for (double* sum : {&s.near_best, &s.worse_than_usual, &s.mean_loss, &s.mean_trials})
    *sum /= landscapes;
  return s;
}

TEST(SpreadChoice, FindsTheBestWhereNothingDisturbs) {
  auto const s = score(0, 0, 1000);
  EXPECT_GE(s.near_best, 0.99);
  EXPECT_EQ(s.worse_than_usual, 0);
  EXPECT_LE(s.most_trials, 20);
}

TEST(SpreadChoice, IsNearTheBestAmongNoiseAndHardlyEverWorseThanUsual) {
  auto const s = score(0.03, 0.02, 2000);
  RecordProperty("mean_trials", std::to_string(s.mean_trials));
  RecordProperty("mean_loss", std::to_string(s.mean_loss));
  EXPECT_GE(s.near_best, 0.9) << s.mean_loss;
  EXPECT_LE(s.worse_than_usual, 0.002);
  EXPECT_LE(s.mean_loss, 0.03);
  EXPECT_LE(s.most_trials, 20);
  EXPECT_LE(s.mean_trials, 17);
}

TEST(SpreadChoice, StaysWhereNothingIsToBeGained) {
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Landscape l(
        some_space, [](SpreadConfig const& c) { return c == SpreadConfig{1, 1, 14} ? 1.0 : 1.025; },
        seed);
    SpreadChoice choice(l.space(), l.usual());
    converge(choice, l);
    moved += choice.held() != l.usual();
  }
  EXPECT_LE(moved, 5);
}

TEST(SpreadChoice, MovesOnlyForMoreThanTwoPercent) {
  auto const of = [](double gain) {
    Landscape l(
        {{1, 2}, {2}, {1}}, [gain](SpreadConfig const& c) { return c.spread == 2 ? 1 - gain : 1; },
        1);
    l.noise = 0;
    SpreadChoice choice(l.space(), l.usual());
    converge(choice, l);
    return choice.held().spread;
  };
  EXPECT_EQ(of(0.019), 1);
  EXPECT_EQ(of(0.021), 2);
}

// The gain of caches comes at once: the neighbours of the usual spread gain nothing.
TEST(SpreadChoice, CrossesAPlateau) {
  Landscape l(
      {{1, 2, 4, 7, 14, 28}, {28}, {1}},
      [](SpreadConfig const& c) { return c.spread == 14   ? 0.75
                                         : c.spread == 28 ? 1.1
                                                          : 1.0; }, 1);
  SpreadChoice choice(l.space(), l.usual());
  converge(choice, l);
  EXPECT_EQ(choice.held().spread, 14);
}

TEST(SpreadChoice, DropsWhatIsClearlyWorseAfterOneSample) {
  Landscape l(
      {{1, 2, 4}, {4}, {1}}, [](SpreadConfig const& c) { return 1.0 + 0.3 * (c.spread > 1); }, 1);
  l.noise = 0;
  SpreadChoice choice(l.space(), l.usual());
  EXPECT_EQ(converge(choice, l), 2 + 1 + 1);
  EXPECT_EQ(choice.held(), l.usual());
}

TEST(SpreadChoice, LeavesADirectionThatIsHopeless) {
  Landscape l({{1}, {2, 4, 8, 16}, {1}}, [](SpreadConfig const& c) { return 16.0 / c.active; }, 1);
  l.noise = 0;
  SpreadChoice choice(l.space(), l.usual());
  EXPECT_EQ(converge(choice, l), 2 + 1 + 1);  // 8 and 4, not 2
}

TEST(SpreadChoice, HasNothingToChooseFromOne) {
  Landscape l({}, [](SpreadConfig const&) { return 1.0; }, 1);
  SpreadChoice choice(l.space(), l.usual());
  converge(choice, l);
  EXPECT_EQ(choice.trials(), 1);
}

// Samples that do not compare.
TEST(SpreadChoice, HoldsTheUsualWhereIterationsDifferWildly) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto l = made_from(seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> wild(0.3, 3);
    SpreadChoice choice(l.space(), l.usual());
    int other = 0;
    for (int i = 0; i < 500; ++i) {
      other += choice.next() != l.usual();
      choice.took(l.truth(choice.next()) * (i % 2 == 0 ? wild(random) : 5));
    }
    EXPECT_EQ(choice.held(), l.usual());
    EXPECT_LE(other, 10) << seed;
  }
}

// As the steps of an LU factorisation: of two alike configurations, the later sample is the
// smaller.
TEST(SpreadChoice, WorkThatGrowsOrShrinksFavoursNobody) {
  SpreadSpace const space{{1, 2, 4, 7, 14, 28}, {14, 28}, {1}};
  for (double const change : {0.97, 0.99, 1.01, 1.03}) {
    SpreadChoice choice(space, {1, 1, 28});
    double seconds = 1;
    for (int i = 0; i < 200 && !choice.is_holding(); ++i) choice.took(seconds *= change);
    EXPECT_TRUE(choice.is_holding()) << change;
    EXPECT_EQ(choice.held(), (SpreadConfig{1, 1, 28})) << change;
  }
}

TEST(SpreadChoice, ForgivesOneDisturbanceAtTheStart) {
  auto l = made_from(3);
  l.noise = 0;
  SpreadChoice choice(l.space(), l.usual());
  choice.took(2 * l.truth(choice.next()));
  converge(choice, l);
  EXPECT_LE(l.truth(choice.held()), 1.05 * l.least());
}

// Time from when it first held something, that of trials beyond what holding would have taken, and
// the longest excess of one iteration.
struct Costs {
  double time = 0, trials = 0, longest = 0;
};
Costs go_on(SpreadChoice& choice, Landscape& l, int iterations) {
  Costs costs;
  for (int i = 0; i < iterations; ++i) {
    auto const config = choice.next();
    double const took = l.measure(config);
    costs.time += took;
    if (config != choice.held()) {
      double const excess = std::max(0.0, took - l.truth(choice.held()));
      costs.trials += excess;
      costs.longest = std::max(costs.longest, excess);
    }
    choice.took(took);
  }
  return costs;
}

TEST(SpreadChoice, SearchesAnewWhenTheLoopHasChangedWithinItsMeans) {
  double cost_of_two = 0.5;  // spread 2's, at first the best's
  Landscape l(
      {{1, 2, 4, 8}, {8}, {1}},
      [&](SpreadConfig const& c) {
        return c.spread == 2 ? cost_of_two : c.spread == 4 ? 0.8 : c.spread == 8 ? 1.5 : 1.0;
      },
      1);
  SpreadChoice choice(l.space(), l.usual());
  converge(choice, l);
  ASSERT_EQ(choice.held().spread, 2);
  auto costs = go_on(choice, l, 200);
  EXPECT_EQ(costs.trials, 0);

  cost_of_two = 1.2;
  auto const after = go_on(choice, l, 3000);
  EXPECT_EQ(choice.held().spread, 4);
  EXPECT_LE(costs.trials + after.trials, 0.011 * (costs.time + after.time));
  EXPECT_LE(choice.cost_share(), 0.01);
}

TEST(SpreadChoice, DoesNotSearchForDriftsBelowTenPercentOrShortOnes) {
  double factor = 1;
  Landscape l(
      {{1, 2, 4}, {4}, {1}}, [&](SpreadConfig const& c) { return factor * (1 + 0.05 * c.spread); },
      1);
  l.noise = 0.01;
  SpreadChoice choice(l.space(), l.usual());
  converge(choice, l);
  int const trials = choice.trials();
  go_on(choice, l, 300);
  factor = 1.07;
  go_on(choice, l, 300);
  factor = 1.5;
  go_on(choice, l, 4);
  factor = 1.07;
  go_on(choice, l, 500);
  EXPECT_TRUE(choice.is_holding());
  EXPECT_EQ(choice.trials(), trials);
}

// A long run whose loop changes all the time.
TEST(SpreadChoice, TrialsCostAHundredthAtMost) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto l = made_from(seed);
    double phase = 1;
    Landscape changing(l.space(), [&](SpreadConfig const& c) { return phase * l.truth(c); }, seed);
    SpreadChoice choice(l.space(), l.usual());
    converge(choice, changing);
    Costs sum;
    for (int p = 0; p < 40; ++p) {
      phase = p % 2 == 0 ? 1.4 : 1;
      auto const costs = go_on(choice, changing, 200);
      sum.time += costs.time;
      sum.trials += costs.trials;
      sum.longest = std::max(sum.longest, costs.longest);
    }
    EXPECT_LE(sum.trials, 0.01 * sum.time + sum.longest) << seed;
  }
}

TEST(SpreadChoice, GoesOnFromWhatAnEarlierRunFound) {
  auto l = made_from(11);
  SpreadChoice first(l.space(), l.usual());
  converge(first, l);
  go_on(first, l, 20);
  SpreadChoice second(l.space(), l.usual(), first.state());
  EXPECT_TRUE(second.is_holding());
  EXPECT_EQ(second.next(), first.held());
  go_on(second, l, 100);
  EXPECT_EQ(second.trials(), 0);

  // On data twice as large it looks again.
  Landscape larger(l.space(), [&](SpreadConfig const& c) { return 2 * l.truth(c); }, 1);
  SpreadChoice third(l.space(), l.usual(), first.state());
  go_on(third, larger, 4000);
  EXPECT_GT(third.trials(), 0);
}

TEST(SpreadChoice, SameSamplesSameChoice) {
  auto a = made_from(5), b = made_from(5);
  SpreadChoice one(a.space(), a.usual()), other(b.space(), b.usual());
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(one.next(), other.next());
    one.took(a.measure(one.next()));
    other.took(b.measure(other.next()));
  }
}

}  // namespace
}  // namespace nigh::policy
