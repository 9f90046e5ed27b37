// SPDX-License-Identifier: Apache-2.0
// Which workers share a queue, whom they help, and in which queue a tile waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "policy/queue_homes.hpp"
#include "policy/tile_home.hpp"
#include "policy/tile_size.hpp"

namespace {

using namespace nigh;
using ::testing::ElementsAre;

// Two domains of two L3s of two cores.
std::vector<policy::QueueHome> homes(level l, std::vector<int> const& cpus) {
  auto const machine = topology::from_synthetic("numa:2 l3:2 core:2 pu:1");
  EXPECT_TRUE(machine.ok());
  return policy::queue_homes(*machine, cpus, l);
}

TEST(QueueHomes, AreDomainsOrCachesWithin) {
  std::vector<int> const all{0, 1, 2, 3, 4, 5, 6, 7};
  auto const domains = homes(level::domain, all);
  ASSERT_EQ(domains.size(), 2u);
  EXPECT_THAT(domains[1].workers, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(domains[1].others, ElementsAre(0));
  auto const caches = homes(level::l3, all);
  ASSERT_EQ(caches.size(), 4u);
  EXPECT_EQ(caches[2].domain, 1);
  EXPECT_THAT(caches[2].workers, ElementsAre(4, 5));
  EXPECT_THAT(caches[2].others, ElementsAre(3, 0, 1));  // its domain's other cache first
}

TEST(QueueHomes, HoldThoseWhoTakePart) {
  auto const caches = homes(level::l3, {7, 2, 6});
  ASSERT_EQ(caches.size(), 2u);
  EXPECT_EQ(caches[0].domain, 0);
  EXPECT_THAT(caches[0].workers, ElementsAre(1));
  EXPECT_THAT(caches[1].workers, ElementsAre(0, 2));
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
