// SPDX-License-Identifier: Apache-2.0
// The text that the shim writes, as the command reads it.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/profile/region_times.hpp"
#include "openmp/study.hpp"
#include "temporary_folder.hpp"

namespace nigh::openmp {
namespace {

namespace fs = std::filesystem;

void const* here() { return reinterpret_cast<void const*>(&here); }

// One test, for there is one table in a process, and it only fills.
TEST(RegionTimes, OfManyThreadsAreAllThere) {
  test::TemporaryFolder const folder;
  auto const file = (folder.path() / "times.1").string();
  add_region_time(1, here(), 1, 1000);  // before there is a table: nowhere
  ASSERT_TRUE(begin_region_times());
  write_region_times(file.c_str(), 2);
  EXPECT_FALSE(fs::exists(file));  // nothing was added

  constexpr std::uint64_t regions = 60, runs = 200;
  constexpr std::uint32_t sizes = 3, threads = 4;
  std::vector<std::thread> adding;
  for (std::uint32_t t = 0; t < threads; ++t)
    adding.emplace_back([] {
      for (std::uint64_t run = 0; run < runs; ++run)
        for (std::uint64_t r = 0; r < regions; ++r)
          for (std::uint32_t size = 1; size <= sizes; ++size)
            add_region_time(0x1000 + 16 * r, here(), size, 100 * size);
    });
  for (auto& thread : adding) thread.join();
  write_region_times(file.c_str(), 2);
  auto const written = cli::read_times(folder.path());
  ASSERT_TRUE(written) << written.message();
  ASSERT_EQ(written->size(), 1U);
  auto const& times = written->front();
  EXPECT_EQ(times.team, 2);
  EXPECT_EQ(times.lost, 0U);
  EXPECT_EQ(times.program, fs::read_symlink("/proc/self/exe"));
  ASSERT_EQ(times.regions.size(), regions * sizes);
  std::map<std::pair<std::uint64_t, int>, int> seen;
  for (auto const& t : times.regions) {
    EXPECT_EQ(++seen[std::pair(t.region, t.threads)], 1);
    EXPECT_EQ(t.runs, threads * runs);
    EXPECT_EQ(t.total_ns, threads * runs * 100 * static_cast<std::uint64_t>(t.threads));
    EXPECT_NEAR(static_cast<double>(t.median_ns), 100.0 * t.threads, 2.0 * t.threads);
    EXPECT_EQ(t.file, times.program);
  }

  // A file that is there is somebody's.
  write_region_times(file.c_str(), 3);
  EXPECT_EQ(cli::read_times(folder.path())->front().team, 2);

  // More than there is room for.
  for (std::uint64_t r = 0; r < 5000; ++r) add_region_time(0x100000 + 16 * r, here(), 1, 100);
  fs::remove(file);
  write_region_times(file.c_str(), 2);
  auto const full = cli::read_times(folder.path());
  ASSERT_TRUE(full) << full.message();
  EXPECT_GT(full->front().lost, 0U);
  EXPECT_EQ(full->front().lost + full->front().regions.size(), regions * sizes + 5000);
}

}  // namespace
}  // namespace nigh::openmp
