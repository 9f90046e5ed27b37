// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "policy/cpus/rank_cpus.hpp"

namespace nigh::policy {
namespace {

using Ranks = std::vector<std::vector<int>>;

Ranks ranks_on(std::string const& machine, RankPlacing const& how) {
  return rank_cpus(topology::from_synthetic(machine).value(), how);
}
constexpr auto scatter = cpu_order::scatter, compact = cpu_order::compact;

TEST(RankCpus, EachRankHasAnEqualPart) {
  EXPECT_EQ(ranks_on("pack:2 numa:1 core:4 pu:1", {.ranks = 2}),
            (Ranks{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(ranks_on("pack:2 numa:1 core:4 pu:1", {.ranks = 4}),
            (Ranks{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(ranks_on("core:2 pu:1", {}), (Ranks{{0, 1}}));
}

TEST(RankCpus, ScatterTakesDomainsInTurn) {
  EXPECT_EQ(ranks_on("pack:2 numa:1 core:4 pu:1", {.ranks = 4, .order = scatter}),
            (Ranks{{0, 1}, {4, 5}, {2, 3}, {6, 7}}));
  EXPECT_EQ(ranks_on("pack:2 numa:2 core:2 pu:1", {.ranks = 4, .order = scatter}),
            (Ranks{{0, 1}, {4, 5}, {2, 3}, {6, 7}}))
      << "packages first, then their domains";
}

TEST(RankCpus, UnusedCoresAreSpreadEvenly) {
  EXPECT_EQ(ranks_on("pack:2 numa:1 core:4 pu:1", {.ranks = 2, .threads = 2}),
            (Ranks{{0, 2}, {4, 6}}));
  EXPECT_EQ(ranks_on("pack:2 numa:1 core:4 pu:1", {.ranks = 1, .threads = 2}), (Ranks{{0, 4}}))
      << "also of one rank that owns both domains";
}

TEST(RankCpus, ThreadsShareCoresWhenTold) {
  auto const machine = "pack:1 numa:1 core:4 pu:2";
  EXPECT_EQ(ranks_on(machine, {.ranks = 2, .threads = 2}), (Ranks{{0, 2}, {4, 6}}));
  EXPECT_EQ(ranks_on(machine, {.ranks = 2, .threads = 2, .smt = true}), (Ranks{{0, 1}, {4, 5}}));
  EXPECT_EQ(ranks_on(machine, {.ranks = 2, .smt = true}), (Ranks{{0, 2, 1, 3}, {4, 6, 5, 7}}));
  EXPECT_EQ(ranks_on(machine, {.ranks = 1, .threads = 3, .smt = true}), (Ranks{{0, 4, 1}}));
}

TEST(RankCpus, WhatDoesNotFitIsNone) {
  EXPECT_TRUE(ranks_on("core:2 pu:2", {.ranks = 3}).empty());
  EXPECT_TRUE(ranks_on("core:2 pu:2", {.ranks = 0}).empty());
  EXPECT_TRUE(ranks_on("core:4 pu:2", {.ranks = 2, .threads = 3}).empty());
  EXPECT_TRUE(ranks_on("core:4 pu:2", {.ranks = 2, .threads = 5, .smt = true}).empty());
  EXPECT_TRUE(ranks_on("core:3 pu:1", {.ranks = 2, .threads = 2}).empty())
      << "one rank would have them, the other would not";
}

TEST(RankCpus, NoCpuIsGivenTwice) {
  for (auto const* machine : {"pack:2 numa:1 core:14 pu:2", "pack:2 numa:1 core:22 pu:4",
                              "pack:1 numa:4 l3:2 core:8 pu:2", "core:2 pu:1"}) {
    auto const whole = topology::from_synthetic(machine).value();
    for (int ranks = 1; ranks <= whole.cores(); ++ranks)
      for (auto const order : {compact, scatter})
        for (bool const smt : {false, true}) {
          auto const found = rank_cpus(whole, {ranks, order, 0, smt});
          ASSERT_EQ(found.size(), static_cast<std::size_t>(ranks)) << machine;
          std::set<int> seen;
          for (auto const& rank : found) {
            EXPECT_EQ(rank.size(), found.front().size()) << "equal ranks";
            for (int const cpu : rank) EXPECT_TRUE(seen.insert(cpu).second) << machine;
          }
        }
  }
}

}  // namespace
}  // namespace nigh::policy
