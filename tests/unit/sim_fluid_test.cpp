// SPDX-License-Identifier: Apache-2.0
// Rates of flows: max-min fair against brute force, nothing lost, nothing beyond a capacity.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/fluid.hpp"
#include "sim/random.hpp"

namespace nigh::sim {
namespace {

struct Case {
  std::vector<Resource> resources;
  struct Flow {
    std::vector<Use> uses;
    double cap = no_cap;
  };
  std::vector<Flow> flows;
};

Case random_case(Random& random, int resources, int flows) {
  Case c;
  for (int r = 0; r < resources; ++r)
    c.resources.push_back(
        {0.5 + random.uniform() * 4, random.below(2) * 0.1 * random.uniform(), random.below(3)});
  for (int f = 0; f < flows; ++f) {
    Case::Flow flow;
    for (int r = 0; r < resources; ++r)
      if (random.below(3) == 0)
        flow.uses.push_back(
            {static_cast<ResourceId>(r), random.below(2) == 0 ? 1 : 0.1 + random.uniform()});
    if (flow.uses.empty() || random.below(2) == 0)
      flow.cap = random.below(4) == 0 ? 0.5 : 0.05 + random.uniform() * 2;
    c.flows.push_back(std::move(flow));
  }
  return c;
}

double capacity(Case const& c, std::size_t resource) {
  int users = 0;
  for (auto const& f : c.flows)
    for (Use const& u : f.uses) users += u.resource == resource;
  return c.resources[resource].capacity_for(users);
}

bool is_possible(Case const& c, std::vector<double> const& rates) {
  constexpr double rounding = 1 + 1e-13;
  for (std::size_t r = 0; r < c.resources.size(); ++r) {
    double sum = 0;
    for (std::size_t f = 0; f < c.flows.size(); ++f)
      for (Use const& u : c.flows[f].uses)
        if (u.resource == r) sum += u.weight * rates[f];
    if (sum > capacity(c, r) * rounding) return false;
  }
  for (std::size_t f = 0; f < c.flows.size(); ++f)
    if (rates[f] > c.flows[f].cap * rounding) return false;
  return true;
}

// The definition, by trial: as much as possible for all alike; who cannot have more alone is done;
// and so on with the others.
std::vector<double> by_trial(Case const& c) {
  std::vector<double> rates(c.flows.size(), 0);
  std::vector<bool> done(c.flows.size(), false);
  for (auto left = c.flows.size(); left > 0;) {
    double low = 0, high = 1000;
    for (int i = 0; i < 100; ++i) {
      double const level = (low + high) / 2;
      auto trial = rates;
      for (std::size_t f = 0; f < trial.size(); ++f)
        if (!done[f]) trial[f] = level;
      (is_possible(c, trial) ? low : high) = level;
    }
    for (std::size_t f = 0; f < rates.size(); ++f)
      if (!done[f]) rates[f] = low;
    auto const before = left;
    for (std::size_t f = 0; f < rates.size(); ++f) {
      if (done[f]) continue;
      auto more = rates;
      more[f] *= 1 + 1e-9;
      if (!is_possible(c, more)) {
        done[f] = true;
        --left;
      }
    }
    if (left == before) return {};  // would be a mistake in this function
  }
  return rates;
}

std::vector<double> solved(Case const& c, std::vector<std::size_t> const& order) {
  FluidNetwork network;
  for (Resource const& r : c.resources) network.add(r);
  std::vector<FlowId> ids(c.flows.size());
  for (auto const f : order) ids[f] = network.start(0, 1, c.flows[f].uses, c.flows[f].cap);
  std::vector<double> rates;
  for (auto const id : ids) rates.push_back(network.rate(0, id));
  return rates;
}
std::vector<std::size_t> in_turn(Case const& c) {
  std::vector<std::size_t> order(c.flows.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  return order;
}

TEST(Fluid, RatesAreMaxMinFair) {
  Random random(11);
  for (int round = 0; round < 400; ++round) {
    auto const c = random_case(random, 1 + random.below(5), 1 + random.below(7));
    auto const expected = by_trial(c);
    auto const rates = solved(c, in_turn(c));
    ASSERT_EQ(rates.size(), expected.size());
    for (std::size_t f = 0; f < rates.size(); ++f)
      ASSERT_NEAR(rates[f], expected[f], 1e-6 * expected[f]) << "case " << round << ", flow " << f;
  }
}

// The rest of a sum of weights is rounded, and may be more or less than the weights left, or than
// 0.
TEST(Fluid, TinyWeightsAreNotLostInTheRoundingOfOthers) {
  Random random(13);
  for (int round = 0; round < 200; ++round) {
    double const tiny = round % 2 == 0 ? 1e-24 : 1e-16;
    Case c{{{100, 0, 0}}, {{{{0, tiny}}, 2}}};
    for (int f = 0; f < 6; ++f)
      c.flows.push_back({{{0, 0.1 + random.uniform()}}, 0.1 + random.uniform()});
    auto const rates = solved(c, in_turn(c));
    for (std::size_t f = 0; f < rates.size(); ++f)
      ASSERT_EQ(rates[f], c.flows[f].cap) << "case " << round << ", flow " << f;
    c.resources[0].capacity = 0.05;  // full before anybody has what it could
    auto const full = solved(c, in_turn(c));
    for (double const rate : full) ASSERT_NEAR(rate, full[1], 1e-12) << "case " << round;
  }
}

TEST(Fluid, RatesDoNotDependOnTheOrderOfStarts) {
  Random random(12);
  for (int round = 0; round < 200; ++round) {
    auto const c = random_case(random, 6, 20);
    auto order = in_turn(c);
    auto const rates = solved(c, order);
    random.shuffle(order);
    auto const shuffled = solved(c, order);
    for (std::size_t f = 0; f < rates.size(); ++f) ASSERT_NEAR(rates[f], shuffled[f], 1e-9);
  }
}

// Computing anew only the flows concerned gives the same as computing all.
TEST(Fluid, ChangesLeaveTheRatesThatABeginningAnewWouldGive) {
  Random random(13);
  for (int round = 0; round < 60; ++round) {
    auto c = random_case(random, 12, 0);
    FluidNetwork network;
    for (Resource const& r : c.resources) network.add(r);
    std::vector<FlowId> ids;
    for (Time now = 0; now < 60; ++now) {
      if (!ids.empty() && random.below(3) == 0) {
        auto const gone = random.below(static_cast<int>(ids.size()));
        network.stop(now, ids[static_cast<std::size_t>(gone)]);
        ids.erase(ids.begin() + gone);
        c.flows.erase(c.flows.begin() + gone);
      } else {
        auto one = random_case(random, 12, 1);
        auto& uses = one.flows[0].uses;
        if (uses.size() > 2) uses.resize(2);  // so that not all are connected
        c.flows.push_back(one.flows[0]);
        ids.push_back(network.start(now, 1e9, one.flows[0].uses, one.flows[0].cap));
      }
      if (random.below(3) == 0) continue;  // several changes at once
      auto const rates = solved(c, in_turn(c));
      for (std::size_t f = 0; f < rates.size(); ++f)
        ASSERT_NEAR(network.rate(now, ids[f]), rates[f], 1e-9 * rates[f]);
    }
  }
}

TEST(Fluid, OnlyThoseConcernedAreComputedAnew) {
  FluidNetwork network;
  for (int r = 0; r < 10; ++r) network.add({1, 0, 0});
  for (ResourceId r = 0; r < 10; ++r) {
    Use const use{r, 1};
    network.start(0, 1, {&use, 1});
  }
  network.next_ending(0);
  auto const before = network.computed_rates();
  Use const use{3, 1};
  network.start(1, 1, {&use, 1});
  network.next_ending(1);
  EXPECT_EQ(network.computed_rates() - before, 2u);
}

TEST(Fluid, TwinsHaveEqualRatesAndEndTogether) {
  FluidNetwork network;
  auto const memory = network.add({5, 0, 0});
  std::vector<FlowId> twins;
  for (int t = 0; t < 7; ++t) {
    Use const uses[] = {{memory, 1}, {network.add({1, 0, 0}), 1}};
    twins.push_back(network.start(0, 3, uses));
  }
  for (auto const t : twins) EXPECT_DOUBLE_EQ(network.rate(0, t), 5.0 / 7);
  auto const end = network.next_ending(0)->at;
  for (auto const t : twins) {
    auto const ending = network.next_ending(end);
    ASSERT_TRUE(ending);
    EXPECT_EQ(ending->at, end);
    EXPECT_EQ(ending->flow, t) << "in the order of their beginnings";
    EXPECT_NEAR(network.stop(end, t), 0, 1e-8);
  }
  EXPECT_EQ(network.flows(), 0u);
  EXPECT_FALSE(network.next_ending(end));
}

// A resource that is always in use is always fully used: the last flow ends when all the work is
// done, whoever comes and goes.
TEST(Fluid, NothingIsLost) {
  Random random(14);
  for (int round = 0; round < 50; ++round) {
    FluidNetwork network;
    auto const core = network.add({2, 0, 0});
    double work = 0;
    Time now = 0;
    auto const begin = [&] {
      double const volume = 0.1 + random.uniform();
      double const weight = 0.5 + random.uniform();
      Use const use{core, weight};
      network.start(now, volume, {&use, 1});
      work += volume * weight;
    };
    begin();
    for (int i = 0; i < 40; ++i) begin();
    while (auto const ending = network.next_ending(now)) {
      EXPECT_NEAR(network.used(now, core), 2, 1e-9);
      now = ending->at;
      network.stop(now, ending->flow);
      if (random.below(3) == 0 && network.flows() > 0) begin();
    }
    EXPECT_NEAR(seconds(now), work / 2, 1e-6);
  }
}

TEST(Fluid, CrowdedResourcesGiveLess) {
  FluidNetwork network;
  auto const memory = network.add({4, 0.5, 2});
  Use const use{memory, 1};
  auto const first = network.start(0, 1, {&use, 1});
  network.start(0, 1, {&use, 1});
  EXPECT_DOUBLE_EQ(network.rate(0, first), 2);
  network.start(0, 1, {&use, 1});
  network.start(0, 1, {&use, 1});
  EXPECT_DOUBLE_EQ(network.rate(0, first), 0.5);  // 4 / (1 + 0.5 x 2), by four
}

TEST(Fluid, WhatIsStoppedHasItsRestLeft) {
  FluidNetwork network;
  auto const flow = network.start(0, 10, {}, 2);
  EXPECT_DOUBLE_EQ(network.stop(1'000'000'000, flow), 8);
}

TEST(FluidDeathTest, AFlowThatIsGoneIsNotTakenForAnother) {
  FluidNetwork network;
  auto const gone = network.start(0, 1, {}, 1);
  network.stop(0, gone);
  network.start(0, 1, {}, 1);  // in its place
  EXPECT_DEATH(network.rate(0, gone), "a flow that runs");
}

}  // namespace
}  // namespace nigh::sim
