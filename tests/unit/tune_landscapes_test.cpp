// SPDX-License-Identifier: Apache-2.0
// How often the search finds what is best, over hundreds of landscapes, made and recorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "tune/search.hpp"
#include "tune/standings.hpp"
#include "tune_landscape.hpp"
#include "tune_recorded_landscape.hpp"

namespace {

using namespace nigh::tune;
using nigh_test::Landscape;
using nigh_test::landscape;

struct Outcome {
  int chosen = 0;
  int runs = 0;
  double excess = 0;  // of the chosen one's true cost over the least
};

Outcome search(Landscape& l, std::uint64_t seed, int repetitions = 5) {
  Search search(l.candidates, {repetitions, seed});
  while (auto const candidate = search.next()) search.tell(*candidate, l.measure(*candidate));
  Outcome o;
  o.chosen = search.standings().front().candidate;
  o.runs = search.runs();
  o.excess = l.cost[static_cast<std::size_t>(o.chosen)] / l.least() - 1;
  return o;
}

struct Shape {
  int threads, bindings, memories, schedules;
};
// A small machine with one domain; two and four domains; a large one with every schedule.
constexpr std::array<Shape, 4> shapes{{{2, 1, 1, 6}, {4, 2, 2, 3}, {5, 2, 3, 4}, {7, 2, 3, 6}}};

// How many of fifty landscapes of this shape end within 3% of the least cost there is, by at
// most a third of the runs that measuring everybody as often as finalists would take.
int solved(Shape const& shape, double noise, double stumble, double interactions = 0.04) {
  constexpr int repetitions = 5;
  int good = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto l = landscape(seed, shape.threads, shape.bindings, shape.memories, shape.schedules,
                       interactions);
    l.noise = noise;
    l.stumble = stumble;
    auto const o = search(l, seed, repetitions);
    EXPECT_LE(3 * o.runs, static_cast<int>(l.candidates.size()) * repetitions) << "seed " << seed;
    if (o.excess <= 0.03) ++good;
  }
  return good;
}

TEST(Landscapes, AreSolvedWithinThreePercentByAThirdOfTheRuns) {
  for (auto const& shape : shapes) EXPECT_GE(solved(shape, 0.03, 0), 47) << shape.threads;
}

TEST(Landscapes, AreSolvedOnAMachineThatOthersUseToo) {
  for (auto const& shape : shapes) EXPECT_GE(solved(shape, 0.03, 0.1), 45) << shape.threads;
}

TEST(Landscapes, AreSolvedOnAQuietMachine) {
  for (auto const& shape : shapes) EXPECT_GE(solved(shape, 0.005, 0), 48) << shape.threads;
}

TEST(Landscapes, AreMostlySolvedWhereOptionsInteractByHalf) {
  for (auto const& shape : shapes) EXPECT_GE(solved(shape, 0.03, 0, 0.5), 34) << shape.threads;
}

// Where one run's luck weighs more than most choices: how many of 200 searches end with a
// configuration whose median is within 3%, and within 10%, of the best one's?
std::array<int, 2> solved_recorded(bool exhaustive) {
  auto const& recorded = nigh_test::multigrid_on_two_cpus;
  std::vector<Candidate> candidates;
  std::vector<double> medians;
  for (auto const& [candidate, rates] : recorded) {
    candidates.push_back(candidate);
    auto sorted = rates;
    std::sort(sorted.begin(), sorted.end());
    medians.push_back(sorted[sorted.size() / 2]);
  }
  double const best = *std::max_element(medians.begin(), medians.end());
  std::array<int, 2> within{};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<std::size_t> any(0, recorded[0].rates.size() - 1);
    Search search(candidates, {5, seed, exhaustive});
    while (auto const c = search.next())
      search.tell(*c, 1.0 / recorded[static_cast<std::size_t>(*c)].rates[any(random)]);
    if (!exhaustive) {
      EXPECT_LE(3 * search.runs(), 5 * static_cast<int>(candidates.size()));
    }
    auto const chosen = static_cast<std::size_t>(search.standings().front().candidate);
    within[0] += best <= 1.03 * medians[chosen];
    within[1] += best <= 1.10 * medians[chosen];
  }
  return within;
}

TEST(Landscapes, ARecordedOneIsSolvedNearlyAlways) {
  auto const [exhaustive_3, exhaustive_10] = solved_recorded(true);
  auto const [short_3, short_10] = solved_recorded(false);
  EXPECT_EQ(exhaustive_10, 200);
  EXPECT_EQ(short_10, 200);
  EXPECT_GE(exhaustive_3, 198);
  EXPECT_GE(short_3, 186);
}

}  // namespace
