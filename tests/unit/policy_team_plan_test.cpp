// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "policy/spread/team_plan.hpp"

namespace nigh::policy {
namespace {

OrderedWorkers cpu_order_of(char const* description) {
  auto const machine = topology::from_synthetic(description).value();
  return {machine, machine.cpus()};
}
OrderedWorkers cpu_order_of(char const* description, std::vector<int> const& cpus) {
  return {topology::from_synthetic(description).value(), cpus};
}

std::vector<int> sizes(TeamPlan const& plan) {
  std::vector<int> all;
  for (int t = 0; t < plan.teams(); ++t) all.push_back(plan.end(t) - plan.begin(t));
  return all;
}
std::vector<int> sizes(OrderedWorkers const& ordered, int spread) {
  return sizes(TeamPlan(ordered, {.spread = spread}));
}
using V = std::vector<int>;

TEST(TeamPlan, KeepsTeamsWithinDomainsOrMakesThemOfWholeOnes) {
  auto const bridges = cpu_order_of("pack:2 numa:1 core:14 pu:1");
  EXPECT_EQ(sizes(bridges, 1), V(28, 1));
  EXPECT_EQ(sizes(bridges, 4), (V{3, 4, 3, 4, 3, 4, 3, 4}));
  EXPECT_EQ(sizes(bridges, 7), V(4, 7));
  EXPECT_EQ(sizes(bridges, 14), V(2, 14));
  EXPECT_EQ(sizes(bridges, 20), V(2, 14));
  EXPECT_EQ(sizes(bridges, 28), V(1, 28));
  EXPECT_EQ(sizes(bridges, 1000), V(1, 28));
}

TEST(TeamPlan, KeepsTeamsWithinCachesAndPackages) {
  auto const caches = cpu_order_of("numa:1 l3:2 core:4 pu:1");
  EXPECT_EQ(sizes(caches, 3), V(4, 2));
  EXPECT_EQ(sizes(caches, 5), V(2, 4));
  auto const packages = cpu_order_of("pack:2 numa:3 core:2 pu:1");
  EXPECT_EQ(sizes(packages, 4), (V{4, 2, 4, 2}));
  EXPECT_EQ(sizes(packages, 6), V(2, 6));
  EXPECT_EQ(sizes(packages, 11), V(2, 6));
  // Small caches only where that makes no more teams.
  auto const pairs = cpu_order_of("numa:1 l2:4 core:2 pu:1");
  EXPECT_EQ(sizes(pairs, 4), V(2, 4));
  EXPECT_EQ(sizes(pairs, 3), (V{2, 3, 3}));
  // A cache that one worker uses is no set of workers.
  EXPECT_EQ(sizes(cpu_order_of("numa:1 l2:14 core:1 pu:1"), 4), (V{3, 4, 3, 4}));
  EXPECT_EQ(sizes(cpu_order_of("numa:1 l2:14 core:1 pu:2", {0, 2, 4, 6, 8, 10, 12}), 3),
            (V{2, 2, 3}));
}

TEST(TeamPlan, DividesDomainsOfUnequalSize) {
  // Of 2 x 4 cpus, six: domains of 2 and 4.
  auto const ordered = cpu_order_of("numa:2 core:4 pu:1", {0, 1, 4, 5, 6, 7});
  EXPECT_EQ(sizes(ordered, 1), V(6, 1));
  EXPECT_EQ(sizes(ordered, 2), V(3, 2));
  EXPECT_EQ(sizes(ordered, 3), V(3, 2));
  EXPECT_EQ(sizes(ordered, 4), (V{2, 4}));
  EXPECT_EQ(sizes(ordered, 6), V(1, 6));
}

// Where all domains are alike, and no core shares its cache with another.
TEST(TeamPlan, MakesAsFewTeamsAsCanBeOfEvenSize) {
  for (int domains : {1, 2, 3, 4, 5})
    for (int cores : {1, 2, 3, 6, 14})
      for (bool own_caches : {false, true}) {
        auto const text = "numa:" + std::to_string(domains) +
                          (own_caches ? " l2:" + std::to_string(cores) + " core:1 pu:1"
                                      : " core:" + std::to_string(cores) + " pu:1");
        auto const ordered = cpu_order_of(text.c_str());
        for (int s = 1; s <= domains * cores; ++s) {
          auto const teams = sizes(ordered, s);
          auto const [least, most] = std::minmax_element(teams.begin(), teams.end());
          int const at_a_time = s > cores ? s / cores : 1;  // domains
          int const in_each = s > cores ? 1 : (cores + s - 1) / s;
          EXPECT_EQ(teams.size(), (domains + at_a_time - 1) / at_a_time * in_each) << text << " by " << s;
          EXPECT_EQ(std::accumulate(teams.begin(), teams.end(), 0), domains * cores) << text << " by " << s;
          EXPECT_LE(*most, s) << text << " by " << s;
          EXPECT_LE(*most - *least, s > cores ? cores : 1) << text << " by " << s;
        }
      }
}

std::set<int> taken(OrderedWorkers const& ordered, TeamChoice const& choice) {
  TeamPlan const plan(ordered, choice);
  std::set<int> workers;
  for (int p = 0; p < plan.places(); ++p) {
    workers.insert(plan.worker_at(p));
    EXPECT_EQ(plan.place_of(plan.worker_at(p)), p);
  }
  return workers;
}
using S = std::set<int>;

TEST(TeamPlan, SpreadsFewerWorkersEvenlyOneACoreFirst) {
  auto const plain = cpu_order_of("pack:2 numa:1 core:4 pu:1");
  EXPECT_EQ(taken(plain, {.active = 4}), (S{0, 2, 4, 6}));
  EXPECT_EQ(taken(plain, {.active = 2}), (S{0, 4}));
  EXPECT_EQ(taken(plain, {.active = 1}), (S{0}));
  EXPECT_EQ(taken(plain, {.active = 100}).size(), 8u);
  auto const smt = cpu_order_of("pack:2 numa:1 core:2 pu:2");
  EXPECT_EQ(taken(smt, {.active = 4}), (S{0, 2, 4, 6}));
  EXPECT_EQ(taken(smt, {.smt = false}), (S{0, 2, 4, 6}));
  EXPECT_EQ(taken(smt, {.active = 2}), (S{0, 4}));
  EXPECT_EQ(taken(smt, {.active = 6}), (S{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(taken(smt, {}).size(), 8u);
}

TEST(TeamPlan, LeavesOutWhoIsNotThere) {
  auto const ordered = cpu_order_of("numa:2 core:2 pu:1");
  EXPECT_EQ(taken(ordered, {.present = {false, true, true, false}}), (S{1, 2}));
  EXPECT_EQ(taken(ordered, {.present = {false, false, false, false}}).size(), 1u);
  TeamPlan const plan(ordered, {.spread = 2, .present = {false, true, true, true}});
  EXPECT_EQ(sizes(plan), (V{1, 2}));
  EXPECT_EQ(plan.place_of(0), -1);
}

TEST(TeamPlan, KnowsWhichTeamsAreNear) {
  TeamPlan const plan(cpu_order_of("pack:2 numa:1 l3:2 core:4 pu:1"), {.spread = 2});
  ASSERT_EQ(plan.teams(), 8);
  EXPECT_LT(plan.distance(0, 1), plan.distance(0, 2));
  EXPECT_LT(plan.distance(0, 2), plan.distance(0, 4));
  EXPECT_EQ(plan.distance(0, 4), plan.distance(0, 7));
  EXPECT_EQ(plan.loop_workers().homes(), 2);
  EXPECT_EQ(plan.loop_workers(7).homes(), 1);
}

}  // namespace
}  // namespace nigh::policy
