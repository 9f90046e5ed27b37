// SPDX-License-Identifier: Apache-2.0
// Levels, groups, orders, distances and restrictions.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <nigh/topology.hpp>
#include <string>
#include <vector>

#include "synthetic.hpp"
#include "topology/cache_share.hpp"

namespace nigh {
namespace {

using nigh::tests::synthetic;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

constexpr level all_levels[] = {level::cpu,    level::core,    level::l2,   level::l3,
                                level::domain, level::package, level::host, level::cluster};

// Two packages of two domains, each domain an L3 with two cores of two cpus: 16 cpus.
topology sixteen() { return synthetic("pack:2 numa:2 l3:1 l2:2 core:1 pu:2"); }

TEST(Level, HasANameBothWays) {
  for (auto l : all_levels) EXPECT_EQ(level_from_string(to_string(l)), l);
  EXPECT_FALSE(level_from_string("socket").has_value());
}

TEST(Groups, FollowTheHardware) {
  auto const t = sixteen();
  EXPECT_EQ(t.groups(level::cpu).size(), 16u);
  EXPECT_EQ(t.groups(level::core).size(), 8u);
  EXPECT_EQ(t.groups(level::l3).size(), 4u);
  EXPECT_THAT(t.groups(level::package)[1], ElementsAre(8, 9, 10, 11, 12, 13, 14, 15));
  EXPECT_EQ(t.groups(level::host).size(), 1u);
}

TEST(Groups, FallBackToTheNextLargerLevel) {
  auto const t = synthetic("pack:2 numa:1 core:4 pu:1");
  EXPECT_EQ(t.groups(level::l2), t.groups(level::domain));
  EXPECT_EQ(t.groups(level::l3), t.groups(level::domain));
  EXPECT_EQ(synthetic("numa:2 pu:2").groups(level::package).size(), 1u);
}

TEST(Groups, TakeACpuInNoCoreForACore) {
  auto const t = synthetic("numa:2 pu:2");
  EXPECT_EQ(t.cores(), 4);
  EXPECT_THAT(t.groups(level::core),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2), ElementsAre(3)));
  EXPECT_THAT(t.smt_siblings(1), ElementsAre(1));
}

TEST(CommonLevel, IsTheSmallestThatExists) {
  auto const t = sixteen();
  EXPECT_EQ(t.common_level(3, 3), level::cpu);
  EXPECT_EQ(t.common_level(0, 1), level::core);
  EXPECT_EQ(t.common_level(0, 2), level::l3);
  EXPECT_EQ(t.common_level(0, 4), level::package);
  EXPECT_EQ(t.common_level(0, 8), level::host);
  EXPECT_EQ(t.common_level(0, 99), level::host);
  EXPECT_EQ(synthetic("pack:1 core:4 pu:1").common_level(0, 3), level::domain) << "no caches";
  EXPECT_EQ(synthetic("l2:2 core:2 pu:1").common_level(0, 1), level::l2);
}

TEST(Order, CompactFillsOneObjectAfterTheOther) {
  auto const t = sixteen();
  EXPECT_THAT(t.order(cpu_order::compact, level::domain),
              ElementsAre(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15));
  EXPECT_EQ(t.order(cpu_order::compact, level::core), t.cpus()) << "siblings side by side";
  EXPECT_EQ(t.order(cpu_order::compact, level::cpu), t.cpus());
  EXPECT_THAT(t.order(cpu_order::compact, level::host),
              ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
}

TEST(Order, ScatterTakesOneOfEachObjectInTurn) {
  auto const t = sixteen();
  EXPECT_THAT(t.order(cpu_order::scatter, level::domain),
              ElementsAre(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15));
  EXPECT_THAT(t.order(cpu_order::scatter, level::package),
              ElementsAre(0, 8, 2, 10, 4, 12, 6, 14, 1, 9, 3, 11, 5, 13, 7, 15));
}

TEST(Order, ScatterGoesOnWhenAnObjectIsUsedUp) {
  auto const t = synthetic("pack:2 numa:1 core:3 pu:1").restricted_to(std::vector{0, 3, 4, 5});
  EXPECT_THAT(t.value().order(cpu_order::scatter, level::domain), ElementsAre(0, 3, 4, 5));
}

// The properties that hold on any machine.
class AnyMachine : public testing::TestWithParam<char const*> {
 protected:
  topology const t = synthetic(GetParam());
};

TEST_P(AnyMachine, OrdersAndGroupsHoldEachCpuOnce) {
  for (auto l : all_levels) {
    for (auto how : {cpu_order::compact, cpu_order::scatter})
      EXPECT_THAT(t.order(how, l), UnorderedElementsAreArray(t.cpus())) << to_string(l);
    std::vector<int> grouped;
    for (auto const& group : t.groups(l)) grouped.insert(grouped.end(), group.begin(), group.end());
    EXPECT_THAT(grouped, UnorderedElementsAreArray(t.cpus())) << to_string(l);
  }
}

TEST_P(AnyMachine, EachCpuIsInItsDomain) {
  std::size_t cpus = 0;
  for (auto const& d : t.domains()) {
    EXPECT_EQ(&d - t.domains().data(), d.index);
    EXPECT_EQ(d.cpus.empty(), d.index >= t.cpu_domains());
    EXPECT_EQ(t.domain_of_os_node(d.os_node), d.os_node < 0 ? -1 : d.index);
    for (int cpu : d.cpus) EXPECT_EQ(t.domain_of_cpu(cpu), d.index);
    cpus += d.cpus.size();
  }
  EXPECT_EQ(cpus, t.cpus().size());
}

TEST_P(AnyMachine, DistancesAreSymmetricAndLeastAtHome) {
  auto const n = static_cast<int>(t.domains().size());
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) {
      EXPECT_EQ(t.distance(a, b), t.distance(b, a));
      EXPECT_EQ(t.distance(a, b) == 10, a == b);
    }
  for (int a : t.cpus())
    for (int b : t.cpus()) {
      EXPECT_EQ(t.cpu_distance(a, b), t.cpu_distance(b, a));
      EXPECT_EQ(t.cpu_distance(a, b) == 0, a == b);
      EXPECT_EQ(t.common_level(a, b), t.common_level(b, a));
      if (t.domain_of_cpu(a) != t.domain_of_cpu(b)) {
        EXPECT_GT(t.cpu_distance(a, b), topology::amplification(level::domain));
      }
    }
}

TEST_P(AnyMachine, RestrictingKeepsOrderAndRelations) {
  std::vector<int> keep;
  for (std::size_t i = 0; i < t.cpus().size(); i += 3) keep.push_back(t.cpus()[i]);
  auto const less = t.restricted_to(keep).value();
  EXPECT_EQ(less.cpus(), keep);
  for (int a : keep)
    for (int b : keep) {
      EXPECT_EQ(less.common_level(a, b), t.common_level(a, b));
      EXPECT_EQ(less.cpu_distance(a, b), t.cpu_distance(a, b));
    }
  for (auto const& d : less.domains()) {
    auto const before = t.domain_of_os_node(d.os_node);
    for (auto const& other : less.domains())
      EXPECT_EQ(less.distance(d.index, other.index),
                t.distance(before, t.domain_of_os_node(other.os_node)));
  }
}

INSTANTIATE_TEST_SUITE_P(Synthetic, AnyMachine,
                         testing::Values("pu:1", "core:2 pu:1", "pack:4 numa:1 core:2 pu:1",
                                         "pack:2 numa:2 l3:2 l2:3 l1:1 core:1 pu:2",
                                         "numa:2 pack:2 core:3 pu:2",
                                         "pack:2 [numa] [numa] core:4 pu:2", "numa:3 pu:5",
                                         "pack:2 l3:2 numa:1 core:2 pu:4",
                                         "pack:2 numa:1 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)",
                                         "group:2 numa:2 pu:3",
                                         "pack:2 die:2 numa:1 l3:1 core:2 pu:1"));

TEST(RestrictedTo, MovesDomainsWithoutCpusToTheEnd) {
  auto const t = synthetic("pack:3 numa:1 core:2 pu:1").restricted_to(std::vector{4, 3}).value();
  ASSERT_EQ(t.domains().size(), 3u);
  EXPECT_EQ(t.cpu_domains(), 2);
  EXPECT_EQ(t.domains()[0].os_node, 1);
  EXPECT_EQ(t.domains()[1].os_node, 2);
  EXPECT_EQ(t.domains()[2].os_node, 0);
  EXPECT_THAT(t.domains()[2].cpus, IsEmpty());
  EXPECT_THAT(t.cpus(), ElementsAre(3, 4)) << "hardware order, whatever the order asked";
  EXPECT_EQ(t.domain_of_cpu(0), -1);
  EXPECT_THAT(t.description(), HasSubstr("2 cpus (of 6)"));
}

TEST(RestrictedTo, TwiceIsTheSameAsOnce) {
  auto const t = synthetic("pack:4 numa:1 core:2 pu:2");
  auto const twice = t.restricted_to(std::vector{0, 1, 6, 9, 15})
                         .value()
                         .restricted_to(std::vector{6, 15})
                         .value();
  auto const once = t.restricted_to(std::vector{6, 15}).value();
  EXPECT_EQ(twice.cpus(), once.cpus());
  EXPECT_EQ(twice.domains(), once.domains());
  EXPECT_EQ(twice.description(), once.description());
}

TEST(RestrictedTo, RefusesForeignCpusAndNone) {
  auto const t = synthetic("core:4 pu:1");
  auto const foreign = t.restricted_to(std::vector{2, 7});
  ASSERT_FALSE(foreign.ok());
  EXPECT_THAT(foreign.message(), HasSubstr("cpu 7 is not among the allowed cpus 0-3"));
  EXPECT_FALSE(t.restricted_to(std::vector{-1}).ok());
  EXPECT_FALSE(t.restricted_to({}).ok());
}

TEST(SmtSiblings, AreThoseAllowed) {
  auto const t = synthetic("core:2 pu:4");
  EXPECT_THAT(t.smt_siblings(5), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(t.restricted_to(std::vector{0, 5, 7}).value().smt_siblings(5), ElementsAre(5, 7));
  EXPECT_THAT(t.smt_siblings(8), IsEmpty());
}

}  // namespace
TEST(CacheShare, IsThatOfWhoHasLeast) {
  auto const t = synthetic("pack:2 numa:1 l3:1(size=32MB) l2:4(size=1MB) core:1 pu:2");
  auto const share = [&](std::vector<int> const& cpus) {
    return nigh::topologies::cache_share(t, cpus);
  };
  constexpr std::size_t mb = 1'000'000;  // as hwloc has it
  EXPECT_EQ(share({0}).l2, mb);
  EXPECT_EQ(share({0}).last, 32 * mb);
  EXPECT_EQ(share({0, 1}).l2, mb / 2) << "siblings";
  EXPECT_EQ(share({0, 2, 4, 6}).last, 8 * mb);
  EXPECT_EQ(share({0, 2, 8}).last, 16 * mb) << "two in one package, one in the other";
  EXPECT_EQ(share({}).l2, 0u);
  auto const bare = synthetic("numa:1 core:2 pu:1");
  EXPECT_EQ(nigh::topologies::cache_share(bare, bare.cpus()).last, 0u);
}

}  // namespace nigh
