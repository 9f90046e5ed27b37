// SPDX-License-Identifier: Apache-2.0
// This host, in so far as it is like any other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nigh/topology.hpp>
#include <thread>
#include <vector>

#include "platform/affinity.hpp"

namespace nigh {
namespace {

TEST(Live, OffersNoMoreThanTheAffinityMask) {
  auto const mask = platform::affinity_of_this_thread();
  auto const t = topology::live().value();
  if (!t.is_this_host()) GTEST_SKIP() << "hwloc is told to show another machine";
  EXPECT_THAT(t.cpus(), testing::UnorderedElementsAreArray(mask));
  EXPECT_GE(t.cpu_domains(), 1);
}

TEST(Live, FollowsTheMaskOfTheCallingThread) {
  auto const t = topology::live().value();
  if (!t.is_this_host()) GTEST_SKIP() << "hwloc is told to show another machine";
  std::vector<int> const last{t.cpus().back()};
  std::vector<int> seen;
  std::thread([&] {
    if (platform::pin_this_thread(last).ok()) seen = topology::live().value().cpus();
  }).join();
  EXPECT_EQ(seen, last);
  EXPECT_EQ(topology::live().value().cpus(), t.cpus()) << "ours is as it was";
}

TEST(ThisHost, IsReadOnce) { EXPECT_EQ(&this_host(), &this_host()); }

}  // namespace
}  // namespace nigh
