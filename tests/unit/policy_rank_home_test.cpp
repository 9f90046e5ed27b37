// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "policy/cpus/core_allocation.hpp"
#include "policy/cpus/rank_cpus.hpp"
#include "synthetic.hpp"

namespace nigh::policy {
namespace {

CoreMap core_map(char const* description) {
  return CoreMap::of(tests::synthetic(description));
}

std::vector<int> places(CoreMap const& map, PositionSet const& allowed, int ranks) {
  std::vector<int> found;
  for (int r = 0; r < ranks; ++r)
    found.push_back(place_of_rank(map, allowed, allowed, r, ranks, -1));
  return found;
}

TEST(RankHome, SpreadsRanksOverDomains) {
  auto const map = core_map("pack:4 numa:1 core:8 pu:1");
  auto const all = PositionSet::all(map.size());
  using list = std::vector<int>;
  EXPECT_EQ(places(map, all, 2), (list{0, 16}));
  EXPECT_EQ(places(map, all, 4), (list{0, 8, 16, 24}));
  EXPECT_EQ(places(map, all, 8), (list{0, 4, 8, 12, 16, 20, 24, 28}));
  EXPECT_EQ(places(map, all, 6), (list{0, 4, 8, 16, 20, 24}));
}

TEST(RankHome, KnowsOnlyDomainsThatMayBeUsed) {
  auto const map = core_map("pack:4 numa:1 core:8 pu:1");
  PositionSet allowed(map.size());
  for (int p = 12; p < 24; ++p) allowed.add(p);  // half of one domain, and one
  EXPECT_EQ(places(map, allowed, 2), (std::vector<int>{12, 16}));
  PositionSet one(map.size());
  one.add(31);  // as mpirun binds
  EXPECT_EQ(places(map, one, 2), (std::vector<int>{31, 31}));
}

TEST(RankHome, AMasterThatRunsAtHomeStays) {
  auto const map = core_map("pack:4 numa:1 core:8 pu:1");
  auto const all = PositionSet::all(map.size());
  EXPECT_EQ(place_of_rank(map, all, all, 1, 4, 13), 13);
  EXPECT_EQ(place_of_rank(map, all, all, 1, 4, 3), 8);
  auto free = all;
  for (int p = 8; p < 14; ++p) free.remove(p);
  EXPECT_EQ(place_of_rank(map, all, free, 1, 4, 3), 14) << "a free cpu of its home";
  for (int p = 14; p < 16; ++p) free.remove(p);
  EXPECT_EQ(place_of_rank(map, all, free, 1, 4, 3), 8) << "near it, then";
}

// On any machine, with any number of ranks: a place where it may run, the parts of a domain in
// order, and no domain with two more than another.
TEST(RankHome, IsEven) {
  for (char const* machine :
       {"pack:1 numa:1 core:3 pu:1", "pack:2 numa:2 core:5 pu:2", "pack:3 numa:1 core:4 pu:1"}) {
    auto const map = core_map(machine);
    auto const all = PositionSet::all(map.size());
    for (int ranks = 1; ranks <= map.size(); ++ranks) {
      auto const found = places(map, all, ranks);
      EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
      std::vector<int> in(static_cast<std::size_t>(map.domains()));
      for (int p : found) {
        ASSERT_TRUE(0 <= p && p < map.size());
        ++in[static_cast<std::size_t>(map.set_of(map.domain_level(), p))];
      }
      EXPECT_LE(*std::max_element(in.begin(), in.end()),
                *std::min_element(in.begin(), in.end()) + 1);
    }
  }
}

}  // namespace
}  // namespace nigh::policy
