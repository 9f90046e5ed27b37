// SPDX-License-Identifier: Apache-2.0
// Memory limits of cgroups, in directories that look like theirs.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "platform/memory_limits.hpp"
#include "platform/pages.hpp"
#include "temporary_folder.hpp"

namespace {

using nigh::platform::available_in_cgroups;
using nigh::platform::no_limit;

class Cgroups : public testing::Test {
 protected:
  void write(std::string const& file, std::string const& text) const {
    std::filesystem::create_directories((mount_ / file).parent_path());
    std::ofstream(mount_ / file) << text;
  }

  nigh::test::TemporaryFolder const folder_;
  std::filesystem::path const mount_ = folder_.path();
};

TEST_F(Cgroups, WithoutALimitThereIsNone) {
  EXPECT_EQ(available_in_cgroups("", mount_), no_limit);
  EXPECT_EQ(available_in_cgroups("0::/\n", mount_), no_limit);
  write("a/memory.max", "max\n");
  write("a/memory.current", "5000\n");
  EXPECT_EQ(available_in_cgroups("0::/a\n", mount_), no_limit);
}

TEST_F(Cgroups, Version2TakesTheTightestOfAllAbove) {
  write("a/memory.max", "10000\n");
  write("a/memory.current", "4000\n");
  write("a/b/memory.max", "max\n");
  write("a/b/c/memory.max", "7000\n");
  write("a/b/c/memory.current", "500\n");
  EXPECT_EQ(available_in_cgroups("0::/a/b/c\n", mount_), 6000u);
  EXPECT_EQ(available_in_cgroups("0::/x\n", mount_), no_limit);
}

TEST_F(Cgroups, IdlePageCacheCanBeHad) {
  write("a/memory.max", "10000\n");
  write("a/memory.current", "9000\n");
  write("a/memory.stat", "anon 1000\nfile 8000\ninactive_file 6000\nactive_file 2000\n");
  EXPECT_EQ(available_in_cgroups("0::/a\n", mount_), 7000u);
}

TEST_F(Cgroups, AnExceededLimitLeavesNothing) {
  write("a/memory.max", "1000\n");
  write("a/memory.current", "9000\n");
  EXPECT_EQ(available_in_cgroups("0::/a\n", mount_), 0u);
}

TEST_F(Cgroups, Version1IsAHierarchyOfItsOwn) {
  write("memory/docker/x/memory.limit_in_bytes", "8000\n");
  write("memory/docker/x/memory.usage_in_bytes", "3000\n");
  write("memory/docker/x/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
  char const* const self = "5:cpu,cpuacct:/other\n4:hugetlb,memory:/docker/x\n0::/docker/x\n";
  EXPECT_EQ(available_in_cgroups(self, mount_), 6000u);
}

TEST_F(Cgroups, TheMountedRootCountsWhereTheOwnGroupCannotBeSeen) {
  write("memory/memory.limit_in_bytes", "8000\n");
  write("memory/memory.usage_in_bytes", "3000\n");
  EXPECT_EQ(available_in_cgroups("4:memory:/docker/x\n", mount_), 5000u);
}

TEST(MemoryLimits, OfThisHostAreSane) {
  EXPECT_GT(nigh::platform::available_bytes(), std::uint64_t{1} << 20);
  EXPECT_GT(nigh::platform::anonymous_bytes(), 0u);
}

TEST(Pages, AreAlignedAsAsked) {
  auto const page = nigh::platform::page_bytes();
  for (std::size_t const units : {1u, 3u, 7u, 512u}) {
    auto const p = nigh::platform::map_pages(5 * page, units * page);
    ASSERT_TRUE(p.ok()) << p.message();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*p) % (units * page), 0u);
    (*p)[5 * page - 1] = std::byte{1};
    nigh::platform::unmap_pages(*p, 5 * page);
  }
  EXPECT_FALSE(nigh::platform::map_pages(SIZE_MAX - page, page).ok());
  EXPECT_FALSE(nigh::platform::map_pages(0, page).ok());
}

}  // namespace
