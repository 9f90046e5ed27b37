// SPDX-License-Identifier: Apache-2.0
// The shared parts of drivers: statistics, tables, result lines, cpu lists, result files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/pinned_threads.hpp"
#include "bench/options.hpp"
#include "bench/probes.hpp"
#include "bench/results.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {
namespace {

TEST(BenchStatistics, OfOddAndEvenNumbersOfSamples) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median_of({}), 0);
  Statistics const s = statistics_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(s.mean, 5);
  EXPECT_EQ(s.min, 2);
  EXPECT_EQ(s.max, 9);
  EXPECT_NEAR(s.deviation, 2.138, 1e-3);
  EXPECT_EQ(statistics_of({1}).deviation, 0);
}

TEST(BenchTable, AlignsColumnsByWhatIsSeen) {
  Table t;
  t.row({"a", "5.0±0.1"});
  t.rule();
  t.row({"long", "1"});
  EXPECT_EQ(t.text(), "a     5.0±0.1\n-------------\nlong        1\n");
}

TEST(BenchCommand, ReadsCpuLists) {
  EXPECT_THAT(parse_cpu_list("--topology", "0"), testing::ElementsAre(0));
  EXPECT_THAT(parse_cpu_list("--topology", "0-2,5"), testing::ElementsAre(0, 1, 2, 5));
  for (char const* wrong : {"", "a", "1-", "-1", "3-1", "1,,2", "1 2", "99999999999"})
    EXPECT_THROW(parse_cpu_list("--topology", wrong), UsageError) << wrong;
}

TEST(BenchResults, AreLinesOfTheDocumentedSchema) {
  Result r;
  r.bench = "jacobi3d";
  r.variant = "nigh/queues";
  r.params = {{"threads", 2L}, {"init", "static,1"}};
  r.metric = "rate";
  r.unit = "MLUP/s";
  r.samples = {3, 1, 2};
  r.verified = true;
  r.counters = {{"remote_share", 0.25}, {"energy_j", nullptr}};
  auto const line = nlohmann::json::parse(json_line(r, {"c", "g", "f", "m", "t", "d"}));
  EXPECT_EQ(line["bench"], "jacobi3d");
  EXPECT_EQ(line["params"]["init"], "static,1");
  EXPECT_EQ(line["median"], 2);
  EXPECT_EQ(line["samples"].size(), 3U);
  EXPECT_EQ(line["verified"], true);
  EXPECT_EQ(line["counters"]["remote_share"], 0.25);
  EXPECT_TRUE(line["counters"].at("energy_j").is_null());
  EXPECT_EQ(line["run"]["commit"], "c");

  r.absent = "not installed";
  auto const absent = nlohmann::json::parse(json_line(r, {}));
  EXPECT_EQ(absent["absent"], "not installed");
  EXPECT_FALSE(absent.contains("samples"));
}

class BenchResultFile : public testing::Test {
 protected:
  std::string folder_ = testing::TempDir() + "nigh_bench_" + std::to_string(::getpid());
  std::string file_ = folder_ + "/r.json";

  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
};

TEST_F(BenchResultFile, AppearsWholeOrNotAtAll) {
  {
    ResultFile half("--json", file_);
    half.write("1");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  ResultFile whole("--json", file_);
  whole.write("1");
  whole.write("2");
  EXPECT_FALSE(std::filesystem::exists(file_));
  whole.finish();
  std::ifstream in(file_);
  std::string const text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(text, "1\n2\n");
}

TEST_F(BenchResultFile, FollowsNoLinkThatSomebodyPutThere) {
  auto const precious = file_ + ".precious";
  std::ofstream(precious) << "kept";
  std::filesystem::create_symlink(precious, file_ + ".part");
  ResultFile whole("--json", file_);
  whole.write("{}");
  whole.finish();
  EXPECT_EQ(std::filesystem::file_size(precious), 4U);
  EXPECT_FALSE(std::filesystem::is_symlink(file_));
  std::filesystem::remove(precious);
}

TEST_F(BenchResultFile, LeavesDevicesAndLinksInPlace) {
  auto const write = [](std::string const& name) {
    ResultFile file("--json", name);
    file.write("{}");
    file.finish();
  };
  auto const target = folder_ + "/target.json", full = folder_ + "/full.json";
  std::filesystem::create_symlink(target, file_);
  std::ofstream(target) << "old";
  write(file_);
  EXPECT_TRUE(std::filesystem::is_symlink(file_));
  EXPECT_EQ(std::filesystem::file_size(target), 3U);
  std::filesystem::create_symlink("/dev/full", full);
  EXPECT_THROW(write(full), std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_symlink(full));
}

TEST_F(BenchResultFile, NamesTheArgumentWhenItCannotBeWritten) {
  for (std::string const& bad : {folder_, folder_ + "/absent/r.json"}) try {
      ResultFile const r("--json", bad);
      ADD_FAILURE() << bad;
    } catch (UsageError const& e) {
      EXPECT_THAT(e.what(), testing::StartsWith("--json: cannot write "));
    }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST(BenchStream, CopiesEverything) {
  PinnedThreads pinned({0, 0, 0});  // pinning may fail; copying must not
  constexpr std::size_t n = 8 * 1001;
  struct alignas(64) Line {
    double e[8];
  };
  std::vector<Line> from(n / 8), to(n / 8);
  for (Stores const stores : {Stores::plain, Stores::streaming}) {
    if (stores == Stores::streaming && !streaming_copy_available()) continue;
    for (std::size_t i = 0; i < n; ++i) from[i / 8].e[i % 8] = static_cast<double>(i) + 1;
    for (Line& l : to) l = {};
    EXPECT_GE(seconds_to_copy(pinned, from[0].e, to[0].e, n, stores), 0);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(to[i / 8].e[i % 8], from[i / 8].e[i % 8]);
  }
}

}  // namespace
}  // namespace bench
