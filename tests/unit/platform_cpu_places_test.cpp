// SPDX-License-Identifier: Apache-2.0
#include "platform/cpu_places.hpp"

#include <gtest/gtest.h>

#include <array>

#include "temporary_tree.hpp"

namespace nigh::platform {
namespace {

class CpuPlaces : public test::TemporaryTree {
 protected:
  void cpu(int number, std::string const& what, std::string const& text) const {
    file("cpu/cpu" + std::to_string(number) + "/" + what, text + "\n");
  }
  void cache(int number, int index, std::string const& level, std::string const& shared) const {
    auto const folder = "cache/index" + std::to_string(index) + "/";
    cpu(number, folder + "level", level);
    cpu(number, folder + "shared_cpu_list", shared);
  }
  CpuPlace place(int number) const { return read_place(root_.c_str(), number); }
  std::array<std::uint8_t, most_domains> distances(std::uint32_t from) const {
    std::array<std::uint8_t, most_domains> to;
    read_distances(root_.c_str(), from, to);
    return to;
  }
};

TEST_F(CpuPlaces, AreReadFromTheKernelsFiles) {
  cpu(13, "topology/thread_siblings_list", "5,13");
  cpu(13, "topology/core_siblings_list", "4-7,12-15");
  cpu(13, "node2/cpulist", "4-7,12-15");
  cache(13, 0, "1", "5,13");
  cache(13, 1, "1", "5,13");
  cache(13, 2, "2", "5,13");
  cache(13, 3, "3", "4-5,12-13");
  EXPECT_EQ(place(13), (CpuPlace{.core = 5, .l2 = 5, .l3 = 4, .package = 4, .domain = 2}));
}

TEST_F(CpuPlaces, CachesMayBeSharedByCores) {
  cpu(6, "topology/thread_siblings_list", "6");
  cpu(6, "topology/core_siblings_list", "0-7");
  cache(6, 0, "1", "6");
  cache(6, 1, "2", "4-7");
  EXPECT_EQ(place(6), (CpuPlace{.core = 6, .l2 = 4, .l3 = 4, .package = 0, .domain = 0}));
}

TEST_F(CpuPlaces, WithoutFilesACpuIsACoreOfOnePackage) {
  EXPECT_EQ(place(3), (CpuPlace{.core = 3, .l2 = 3, .l3 = 3, .package = 0, .domain = 0}));
  cpu(3, "topology/thread_siblings_list", "none");
  cpu(3, "topology/core_siblings_list", "99999");
  cache(3, 0, "x", "0-3");
  EXPECT_EQ(place(3), (CpuPlace{.core = 3, .l2 = 3, .l3 = 3, .package = 0, .domain = 0}));
}

TEST_F(CpuPlaces, DistancesAreThoseOfDomainsOnline) {
  file("node/online", "0-1,4\n");
  file("node/node4/distance", "17 28 10\n");
  auto const to = distances(4);
  EXPECT_EQ(to[0], 17);
  EXPECT_EQ(to[1], 28);
  EXPECT_EQ(to[4], 10);
  EXPECT_EQ(to[2], 20);
}

TEST_F(CpuPlaces, WithoutFilesDomainsAreEquallyFar) {
  auto const to = distances(1);
  EXPECT_EQ(to[1], 10);
  EXPECT_EQ(to[0], 20);
  file("node/online", "0-1\n");
  file("node/node1/distance", "far\n");
  EXPECT_EQ(distances(1)[0], 20);
}

}  // namespace
}  // namespace nigh::platform
