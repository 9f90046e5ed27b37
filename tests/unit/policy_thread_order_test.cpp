// SPDX-License-Identifier: Apache-2.0
// Which cpu thread k takes, on machines of every shape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "policy/cpus/thread_order.hpp"
#include "synthetic.hpp"

namespace {

using nigh::tests::synthetic;
using nigh::cpu_order;
using nigh::level;
using nigh::topology;
using nigh::policy::thread_order;
using ::testing::ElementsAre;

TEST(ThreadOrder, CompactFillsDomainsInTurn) {
  auto const t = synthetic("pack:2 numa:1 core:3 pu:1");
  EXPECT_THAT(thread_order(t, cpu_order::compact), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ThreadOrder, ScatterDealsToDomains) {
  auto const t = synthetic("pack:2 numa:1 core:3 pu:1");
  EXPECT_THAT(thread_order(t, cpu_order::scatter), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(ThreadOrder, NoSiblingBeforeTheLastCore) {
  auto const t = synthetic("pack:2 numa:1 core:2 pu:2");
  EXPECT_THAT(thread_order(t, cpu_order::compact), ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(thread_order(t, cpu_order::scatter), ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
}

TEST(ThreadOrder, ScatterGoesToAnotherPackageBeforeAnotherDomain) {
  auto const t = synthetic("pack:2 numa:2 core:2 pu:1");
  EXPECT_THAT(thread_order(t, cpu_order::scatter), ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
}

TEST(ThreadOrder, ScatterSpreadsOverCachesOfOneDomain) {
  auto const t = synthetic("pack:1 numa:1 l3:2 core:2 pu:1");
  EXPECT_THAT(thread_order(t, cpu_order::compact), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(thread_order(t, cpu_order::scatter), ElementsAre(0, 2, 1, 3));
}

TEST(ThreadOrder, UnevenDomainsStillGiveEveryCoreFirst) {
  // Domain 0 keeps one core with both its cpus, domain 1 both cores.
  constexpr std::array keep{0, 1, 4, 5, 6, 7};
  auto const t = synthetic("pack:2 numa:1 core:2 pu:2").restricted_to(keep).value();
  EXPECT_THAT(thread_order(t, cpu_order::scatter), ElementsAre(0, 4, 6, 1, 5, 7));
  EXPECT_THAT(thread_order(t, cpu_order::compact), ElementsAre(0, 4, 6, 1, 5, 7));
}

TEST(ThreadOrder, EveryCpuOnceAndCoresFirst) {
  for (auto const* description : {"core:1 pu:1", "pack:4 numa:1 core:2 pu:1",
                                  "pack:2 numa:2 l3:2 core:3 pu:2", "pack:1 numa:4 core:1 pu:4",
                                  "pack:3 numa:1 l3:3 core:1 pu:2", "numa:2 pack:2 core:2 pu:2"}) {
    auto const t = synthetic(description);
    for (auto const how : {cpu_order::compact, cpu_order::scatter}) {
      auto const order = thread_order(t, how);
      EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), t.cpus().size()) << description;
      ASSERT_EQ(order.size(), t.cpus().size()) << description;
      std::set<int> cores;
      for (int i = 0; i < t.cores(); ++i)
        cores.insert(t.smt_siblings(order[static_cast<std::size_t>(i)]).front());
      EXPECT_EQ(static_cast<int>(cores.size()), t.cores()) << description;
    }
  }
}

}  // namespace
