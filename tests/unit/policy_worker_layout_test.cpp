// SPDX-License-Identifier: Apache-2.0
// Which workers share a queue, whom they help and steal from, and in which queue a tile waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "policy/stealing/worker_layout.hpp"
#include "policy/tiles/time_tiles.hpp"
#include "policy/tiles/tile_size.hpp"

namespace {

using namespace nigh;
using ::testing::ElementsAre;

// Two domains of two L3s of two cores.
std::vector<policy::QueueGroup> groups(level l, std::vector<int> const& cpus) {
  auto const machine = topology::from_synthetic("numa:2 l3:2 core:2 pu:1");
  EXPECT_TRUE(machine.ok());
  return policy::queue_groups(*machine, cpus, l);
}

TEST(QueueGroups, AreDomainsOrCachesWithin) {
  std::vector<int> const all{0, 1, 2, 3, 4, 5, 6, 7};
  auto const domains = groups(level::domain, all);
  ASSERT_EQ(domains.size(), 2u);
  EXPECT_THAT(domains[1].workers, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(domains[1].others, ElementsAre(0));
  auto const caches = groups(level::l3, all);
  ASSERT_EQ(caches.size(), 4u);
  EXPECT_EQ(caches[2].domain, 1);
  EXPECT_THAT(caches[2].workers, ElementsAre(4, 5));
  EXPECT_THAT(caches[2].others, ElementsAre(3, 0, 1));  // its domain's other cache first
}

TEST(QueueGroups, HoldThoseWhoTakePart) {
  auto const caches = groups(level::l3, {7, 2, 6});
  ASSERT_EQ(caches.size(), 2u);
  EXPECT_EQ(caches[0].domain, 0);
  EXPECT_THAT(caches[0].workers, ElementsAre(1));
  EXPECT_THAT(caches[1].workers, ElementsAre(0, 2));
}

policy::WorkerLayout layout(char const* machine, std::vector<int> const& cpus,
                            policy::LayoutRules rules) {
  auto const made = topology::from_synthetic(machine);
  EXPECT_TRUE(made.ok());
  return {*made, cpus, rules};
}

TEST(WorkerLayout, KnowsWhereEachWorkerIs) {
  auto const l = layout("numa:2 l3:2 core:2 pu:1", {7, 2, 6}, {level::l3, false});
  EXPECT_EQ(l.workers(), 3);
  EXPECT_EQ(l.worker_at_cpu(2), 1);
  EXPECT_EQ(l.worker_at_cpu(3), -1);
  EXPECT_EQ(l.worker_at_cpu(100), -1);
  EXPECT_EQ(l.domain_of(0), 1);
  EXPECT_EQ(l.group_of(0), 1);
  EXPECT_EQ(l.group_of(2), 1);
  EXPECT_EQ(l.victims_of(0).self, 0);
  EXPECT_THAT(l.victims_of(0).levels.front().victims, ElementsAre(2));  // of its cache
}

TEST(WorkerLayout, StrictGroupsReachToTheEndOfTheirDomain) {
  std::vector<int> const all{0, 1, 2, 3, 4, 5, 6, 7};
  auto const strict = layout("numa:2 l3:2 core:2 pu:1", all, {level::l3, true});
  EXPECT_THAT(std::vector(strict.in_reach(0).begin(), strict.in_reach(0).end()), ElementsAre(1));
  auto const free = layout("numa:2 l3:2 core:2 pu:1", all, {level::l3, false});
  EXPECT_EQ(free.reach(0), 3);
}

TEST(WorkerLayout, ADomainWithoutWorkersHasTheQueuesOfTheNearest) {
  auto const l = layout("numa:2 l3:2 core:2 pu:1", {4, 6}, {level::l3, false});
  EXPECT_EQ(l.domains(), 2);
  EXPECT_THAT(l.groups_of_domain(1), ElementsAre(0, 1));
  EXPECT_THAT(l.groups_of_domain(0), ElementsAre(0, 1));
  EXPECT_THAT(l.loop_workers().home_of_domain, ElementsAre(0, 0));
  EXPECT_EQ(l.loop_workers().homes(), 1);
}

TEST(WorkerLayout, LoopsGoByDomainsWhateverTheQueuesAre) {
  std::vector<int> const all{0, 1, 2, 3, 4, 5, 6, 7};
  auto const l = layout("numa:2 l3:2 core:2 pu:1", all, {level::core, false});
  EXPECT_EQ(l.groups().size(), 8u);
  EXPECT_THAT(l.loop_workers().workers_at, ElementsAre(4, 4));
  EXPECT_THAT(l.loop_workers().rank_of, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
}

TEST(TileHome, PlanesAreInBlocksOverDomainsAndTheirQueues) {
  std::vector<std::size_t> domain, queue;
  for (std::size_t plane = 0; plane < 12; ++plane) {
    domain.push_back(policy::block_of_plane(plane, 12, 2));
    queue.push_back(policy::queue_of_plane(plane, 12, 2, 3));
  }
  EXPECT_THAT(domain, ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1));
  EXPECT_THAT(queue, ElementsAre(0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2));
}

TEST(TileSize, MayFillMostOfItsOwnCacheAndLittleOfASharedOne) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  EXPECT_EQ(policy::room_for_tiles(mib, 2 * mib).safe, mib * 3 / 4);
  EXPECT_EQ(policy::room_for_tiles(mib, 11 * mib).safe, 3 * mib);
  EXPECT_EQ(policy::room_for_tiles(mib, 12 * mib).most, 6 * mib + mib * 3 / 4);
  EXPECT_EQ(policy::room_for_tiles(2 * mib, 130 * mib).safe, (2 + 16) * mib / 4);
  EXPECT_EQ(policy::room_for_tiles(2 * mib, 130 * mib).most, (8 + 1) * mib + mib / 2);
  EXPECT_EQ(policy::room_for_tiles(0, 0).safe, mib);
  EXPECT_EQ(policy::room_for_tiles(0, 0).most, mib);
}

}  // namespace
