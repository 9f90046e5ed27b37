// SPDX-License-Identifier: Apache-2.0
// Reading /proc about a process, and adding up samples of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/run/whereabouts.hpp"
#include "platform/process_usage.hpp"

namespace {

namespace fs = std::filesystem;
using namespace nigh;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

// A made-up /proc.
class Proc : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void put(std::string const& file, std::string const& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  static std::string stat(int pid, std::string const& name, int parent, int cpu) {
    std::string text = std::to_string(pid) + " (" + name + ") S " + std::to_string(parent);
    for (int field = 5; field <= 38; ++field)
      text += field == 14 ? " 150" : field == 15 ? " 50" : " 0";
    return text + ' ' + std::to_string(cpu) + " 0 0\n";
  }

  fs::path root_ = fs::path(::testing::TempDir()) / "nigh_whereabouts_proc";
};

TEST_F(Proc, TreesHoldAllDescendants) {
  put("10/stat", stat(10, "a", 1, 0));
  put("12/stat", stat(12, "b) (", 10, 0));
  put("11/stat", stat(11, "c", 12, 0));
  put("13/stat", stat(13, "other", 1, 0));
  put("self/stat", stat(10, "a", 1, 0));
  EXPECT_THAT(platform::process_tree(10, root_), ElementsAre(10, 12, 11));
  EXPECT_THAT(platform::process_tree(99, root_), IsEmpty());
}

TEST_F(Proc, ThreadsSayWhereTheyRan) {
  put("10/task/10/stat", stat(10, "my app", 1, 3));
  put("10/task/10/schedstat", "1234567 89 5\n");
  put("10/task/10/sched", "my app (10, #threads: 2)\nse.nr_migrations  :   7\n");
  put("10/task/11/stat", stat(11, "w)", 1, 2));
  auto const threads = platform::threads_of(10, root_);
  ASSERT_EQ(threads.size(), 2u);
  EXPECT_EQ(threads[0].name, "my app");
  EXPECT_EQ(threads[0].cpu, 3);
  EXPECT_EQ(threads[0].busy_ns, 1234567u);
  EXPECT_EQ(threads[0].migrations, 7u);
  EXPECT_EQ(threads[1].name, "w)");
  EXPECT_GT(threads[1].busy_ns, 1'000'000u) << "from ticks, where nanoseconds are not told";
  EXPECT_FALSE(threads[1].migrations.has_value());
}

TEST_F(Proc, PagesOfFilesDoNotCount) {
  put("10/numa_maps",
      "7f00 default anon=3 dirty=3 N0=2 N1=1 kernelpagesize_kB=4\n"
      "7f10 default file=/lib/libc.so.6 mapped=9 N0=9 kernelpagesize_kB=4\n"
      "7f20 interleave:0-1 file=/dev/shm/x dirty=4 N1=4 kernelpagesize_kB=4\n"
      "7f30 bind:1 anon=2 N1=2 kernelpagesize_kB=2048\n"
      "7f40 default\n");
  EXPECT_THAT(platform::bytes_by_node(10, root_).value(),
              ElementsAre(Pair(0, 2 * 4096u), Pair(1, 5 * 4096u + 2 * 2048 * 1024u)));
  EXPECT_FALSE(platform::bytes_by_node(11, root_).has_value());
}

platform::ThreadSample sample(int thread, int cpu, std::uint64_t busy_ns) {
  return {1, thread, "t", cpu, busy_ns, {}};
}

TEST(Whereabouts, TimeBelongsToTheCpuSeenAtItsEnd) {
  cli::Whereabouts seen;
  seen.add({sample(1, 0, 100)});
  seen.add({sample(1, 0, 300), sample(2, 1, 50)});
  seen.add({sample(1, 1, 350)});
  auto const& t = seen.threads();
  ASSERT_EQ(t.size(), 2u);
  EXPECT_THAT(t[0].busy_on, ElementsAre(Pair(0, 300u), Pair(1, 50u)));
  EXPECT_EQ(t[0].busy_ns, 350u);
  EXPECT_EQ(t[0].migrations, 1u);
  EXPECT_EQ(t[1].migrations, 0u);
  EXPECT_FALSE(seen.kernel_counts_migrations());
}

TEST(Whereabouts, TheKernelsCountIsBetterThanOurs) {
  cli::Whereabouts seen;
  auto s = sample(1, 0, 100);
  s.migrations = 5;
  seen.add({s});
  s.cpu = 1, s.migrations = 9;
  seen.add({s});
  EXPECT_EQ(seen.threads()[0].migrations, 9u);
  EXPECT_TRUE(seen.kernel_counts_migrations());
}

TEST(Whereabouts, TheFullestSampleOfPagesIsKept) {
  cli::Whereabouts seen;
  seen.add_pages({{0, 100}, {1, 100}});
  seen.add_pages({{0, 10}});
  EXPECT_THAT(seen.pages(), ElementsAre(Pair(0, 100u), Pair(1, 100u)));
}

TEST(Report, NamesThreadsCpusAndDomains) {
  auto const machine = topology::from_synthetic("pack:2 numa:1 core:2 pu:1").value();
  cli::Whereabouts seen;
  seen.add({sample(41, 2, 3'000'000'000)});
  seen.add_pages({{0, 3 << 20}, {1, 1 << 20}});
  auto const text = cli::report(seen, machine, 3.5, 3.1);
  EXPECT_THAT(text, HasSubstr("ran 3.50 s, used 3.10 s of cpu time\n"));
  EXPECT_THAT(text, HasSubstr("t 41                        3.00 s           0  cpu 2 100%\n"));
  EXPECT_THAT(text, HasSubstr("pages in domain 0            3 MiB       75.0%\n"));
  EXPECT_THAT(text, HasSubstr("pages in domain 1            1 MiB       25.0%\n"));
}

TEST(Report, SaysWhatItDoesNotKnow) {
  auto const machine = topology::from_synthetic("core:2 pu:1").value();
  cli::Whereabouts seen;
  EXPECT_THAT(cli::report(seen, machine, 0, 0), HasSubstr("before anybody looked"));
  for (int t = 0; t < 40; ++t) seen.add({sample(t, 0, 10)});
  auto const text = cli::report(seen, machine, 1, 1);
  EXPECT_THAT(text, HasSubstr("... and 8 threads that ran less\n"));
  EXPECT_THAT(text, HasSubstr("pages: not available here\n"));
  EXPECT_THAT(text, Not(HasSubstr("as the kernel counted")));
}

}  // namespace
