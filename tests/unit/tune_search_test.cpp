// SPDX-License-Identifier: Apache-2.0
// The promises of the search over a program's configurations, and the cases it allows for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "tune/effects.hpp"
#include "tune/search.hpp"
#include "tune/standings.hpp"
#include "tune_landscape.hpp"

namespace {

using namespace nigh::tune;
using nigh_test::landscape;
using ::testing::ElementsAre;

TEST(Search, MeasuresTheFirstCandidateFirstAndEveryValueOnce) {
  auto l = landscape(1, 4, 2, 2, 3);
  Search search(l.candidates, {});
  std::vector<std::set<int>> seen(4);
  for (int run = 0; run < 1 + 3 + 1 + 1 + 2; ++run) {
    auto const c = search.next().value();
    EXPECT_TRUE(run > 0 || c == 0);
    for (std::size_t o = 0; o < seen.size(); ++o)
      seen[o].insert(l.candidates[static_cast<std::size_t>(c)][o]);
    search.tell(c, l.measure(c));
  }
  EXPECT_THAT(seen,
              ElementsAre(std::set{0, 1, 2, 3}, std::set{0, 1}, std::set{0, 1}, std::set{0, 1, 2}));
}

TEST(Search, LeavesOutWhatCannotWin) {
  auto l = landscape(3, 7, 2, 3, 6);
  Search search(l.candidates, {});
  while (auto const c = search.next()) search.tell(*c, l.measure(*c));
  EXPECT_GT(search.passed_over(), 100);
  EXPECT_EQ(search.runs_left(), 0);
}

// A loop of a million short steps, as nigh tune --exhaustive measured it on two cpus: gcc's schedule
// hands them out one by one, so that two threads wait for each other's cache line.
TEST(Search, DoesNotTakeTheEffectOfAValueForThatBesideOthers) {
  std::vector<Candidate> const candidates{
      {0, 0}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 0}, {2, 1}, {2, 2}, {2, 3}, {2, 4}};
  std::vector<double> const seconds{5.02,    // (as it is)
                                    4.22,    // --threads 2
                                    0.0316,  // --threads 2 --schedule static
                                    5.05,    // --threads 2 --schedule dynamic
                                    0.328,   // --threads 2 --schedule dynamic,16
                                    0.0310,  // --threads 2 --schedule guided
                                    0.389,   // --threads 1
                                    0.0526,  // --threads 1 --schedule static
                                    0.387,   // --threads 1 --schedule dynamic
                                    0.0658,  // --threads 1 --schedule dynamic,16
                                    0.0540};  // --threads 1 --schedule guided
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    nigh_test::Landscape l{candidates, seconds, 0.03, 0, std::mt19937_64(seed)};
    Search search(l.candidates, {5, seed});
    while (auto const c = search.next()) search.tell(*c, l.measure(*c));
    EXPECT_THAT(search.standings().front().candidate, ::testing::AnyOf(2, 5)) << "seed " << seed;
    EXPECT_LE(search.runs(), 18) << "seed " << seed;
  }
}

TEST(Search, ExhaustivelyRunsEverybodyInRounds) {
  auto l = landscape(4, 3, 2, 1, 2);
  Search search(l.candidates, {3, 1, true});
  std::vector<int> asked;
  while (auto const c = search.next()) asked.push_back(*c), search.tell(*c, l.measure(*c));
  ASSERT_EQ(asked.size(), 3 * l.candidates.size());
  EXPECT_EQ(asked.front(), 0);
  for (auto const& m : search.measured()) EXPECT_EQ(m.costs.size(), 3u);
  EXPECT_EQ(search.passed_over(), 0);
}

TEST(Search, OneCandidateIsRunOnce) {
  Search search({{0, 0}}, {});
  search.tell(search.next().value(), 1);
  EXPECT_FALSE(search.next().has_value());
  EXPECT_EQ(search.standings().size(), 1u);
}

TEST(Search, WhoFailsIsOut) {
  auto l = landscape(5, 3, 2, 1, 2);
  auto const best =
      static_cast<int>(std::min_element(l.cost.begin(), l.cost.end()) - l.cost.begin());
  Search search(l.candidates, {});
  while (auto const c = search.next())
    if (*c == best)
      search.tell_failed(*c);
    else
      search.tell(*c, l.measure(*c));
  for (auto const& s : search.standings()) EXPECT_NE(s.candidate, best);
  EXPECT_FALSE(search.standings().empty());
}

TEST(Search, AFinalistThatFailsEndsNothing) {
  Search search({{0}, {1}, {2}}, {});
  int runs_of_best = 0;
  while (auto const c = search.next())
    if (*c == 1 && ++runs_of_best == 2)
      search.tell_failed(*c);
    else
      search.tell(*c, 1.0 + (*c == 1 ? 0 : 0.001));
  EXPECT_EQ(search.standings().size(), 2u);
}

TEST(Search, AllMayFail) {
  Search search({{0, 0}, {0, 1}, {1, 0}, {1, 1}}, {});
  int asked = 0;
  while (auto const c = search.next()) search.tell_failed(*c), ++asked;
  EXPECT_EQ(asked, 4);
  EXPECT_TRUE(search.standings().empty());
}

TEST(Search, SameSeedSameRuns) {
  std::vector<int> runs[2];
  for (auto& asked : runs) {
    auto l = landscape(9, 4, 2, 2, 3);
    Search search(l.candidates, {5, 77});
    while (auto const c = search.next()) asked.push_back(*c), search.tell(*c, l.measure(*c));
  }
  EXPECT_EQ(runs[0], runs[1]);
}

TEST(Search, PromisesNoFewerRunsThanItTakes) {
  auto l = landscape(2, 4, 2, 2, 3);
  Search search(l.candidates, {});
  while (auto const c = search.next()) {
    EXPECT_GE(search.runs_left(), 1);
    search.tell(*c, l.measure(*c));
  }
}

TEST(Search, FinalistsThatAreApartButNotSurelyRunOnAndLevelOnesDoNot) {
  for (bool const level : {false, true}) {
    Search search({{0}, {1}, {2}, {3}, {4}}, {4, 1});
    int run = 0;
    while (auto const c = search.next()) {
      double const disturbed = level ? 1 : 1 + 0.04 * (++run % 4);
      search.tell(*c, (*c == 1 ? 1.0 : *c == 2 ? (level ? 1.005 : 1.02) : 3.0) * disturbed);
    }
    std::size_t most = 0;
    for (auto const& m : search.measured()) most = std::max(most, m.costs.size());
    EXPECT_EQ(most > 4, !level) << most;
  }
}

TEST(Standings, TellWhatOneRunInEightDoesNotExceed) {
  EXPECT_DOUBLE_EQ(undisturbed({}), 0);
  EXPECT_DOUBLE_EQ(undisturbed({3}), 3);
  EXPECT_DOUBLE_EQ(undisturbed({9, 2, 4, 30, 8}), 3);
  EXPECT_DOUBLE_EQ(undisturbed({9, 8, 7, 6, 5, 4, 3, 2, 1}), 2);
}

TEST(Standings, AreSureOfWhatIsFarApart) {
  std::vector<Measured> const measured{{{1.00, 1.01, 0.99}}, {{2.00, 2.02, 1.98}}, {{}, true}};
  auto const table = standings(measured, 1);
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[0].candidate, 0);
  EXPECT_DOUBLE_EQ(table[0].cost, 0.9925);
  EXPECT_EQ(table[0].chance, 1);  // and no more, by rounding
  EXPECT_LT(table[0].low, 1);
  EXPECT_GT(table[0].high, 1);
  EXPECT_LT(table[0].high, 1.1);
  EXPECT_GT(chance_below(measured, 0, 1, 1), 0.999);
}

TEST(Standings, AreUnsureOfWhatIsClose) {
  std::vector<Measured> const measured{{{1.00, 1.03, 0.98}}, {{1.001, 1.02, 0.99}}};
  auto const table = standings(measured, 1);
  EXPECT_NEAR(table[0].chance, 0.5, 0.2);
  EXPECT_NEAR(chance_below(measured, 0, 1, 1), 0.5, 0.2);
}

TEST(Standings, AreSurerAfterMoreRuns) {
  std::vector<Measured> once{{{1.0}}, {{1.03}}}, often = once;
  for (int i = 0; i < 8; ++i) often[0].costs.push_back(1.0), often[1].costs.push_back(1.03);
  EXPECT_GT(standings(often, 1)[0].chance, standings(once, 1)[0].chance);
}

TEST(Effects, FindFactorsThatMultiply) {
  std::vector<Candidate> candidates;
  std::vector<Measured> measured;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 2; ++b) {
      candidates.push_back({a, b});
      measured.push_back({{10 * (1 + a) * (b == 0 ? 1.0 : 0.5)}});
    }
  measured[5].costs.clear();  // {2, 1}
  Effects const effects(candidates, measured);
  EXPECT_NEAR(effects.log_cost({2, 1}), std::log(15), 0.1);
}

}  // namespace
