// SPDX-License-Identifier: Apache-2.0
// A runtime's record of itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "fib.hpp"

namespace {

using nigh::tests::fib;
using nigh::fork_join;
using nigh::runtime;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class TasksTrace : public testing::Test {
 protected:
  ~TasksTrace() override { std::filesystem::remove(file); }

  json read() const {
    std::ifstream in(file);
    return json::parse(in);
  }
  nigh::runtime_options traced() const {
    nigh::runtime_options o;
    o.machine = &machine;
    o.trace_file = file;
    return o;
  }
  static int count(json const& trace, char const* name) {
    int n = 0;
    for (auto const& e : trace["traceEvents"]) n += e["name"] == name ? 1 : 0;
    return n;
  }

  std::string const file = (std::filesystem::temp_directory_path() /
                            ("nigh-tasks-trace-" + std::to_string(::getpid()) + "-" +
                             testing::UnitTest::GetInstance()->current_test_info()->name()))
                               .string();
  nigh::topology const machine =
      nigh::topology::from_synthetic("pack:2 numa:1 core:2 pu:1").value();
};

// Both sides must run at the same time, so one of them is stolen.
void steal_once() {
  std::atomic<int> here{0};
  auto const meet = [&here] {
    ++here;
    while (here < 2) std::this_thread::yield();
  };
  fork_join(meet, meet);
}

TEST_F(TasksTrace, CountsForkedAndQueuedTasks) {
  {
    runtime rt(traced());
    rt.run([] { EXPECT_EQ(fib(15), 610); });
    rt.reset_counters();  // the recording goes on
    for (int i = 0; i < 9; ++i) rt.spawn([] {});
    rt.wait();
  }
  auto const trace = read();
  auto const& sums = trace["otherData"];
  EXPECT_EQ(sums["created"], 986 + 1 + 9);  // fib(16) - 1 forks
  EXPECT_EQ(sums["workers"], 4);
  EXPECT_GE(count(trace, "task"), 10);
  EXPECT_GT(sums["busy_ns"], 0);
}

TEST_F(TasksTrace, ShowsStealsWithVictimLevelAndNumber) {
  {
    runtime rt(traced());
    rt.run(&steal_once);
  }
  auto const trace = read();
  ASSERT_GE(count(trace, "steal"), 1);
  int stolen = 0;
  for (auto const& e : trace["traceEvents"])
    if (e["name"] == "steal") {
      auto const& args = e["args"];
      EXPECT_THAT((std::vector<std::string>{"domain", "host"}),
                  testing::Contains(args["level"].get<std::string>()));
      EXPECT_NE(e["tid"].get<int>() % 100'000, args["victim"]);
      stolen += args["tasks"].get<int>();
    }
  EXPECT_EQ(trace["otherData"]["stolen"], stolen);
  std::uint64_t by_level = 0;
  for (auto const& [level, n] : trace["otherData"]["steals"].items())
    by_level += n.get<std::uint64_t>();
  EXPECT_EQ(by_level, static_cast<std::uint64_t>(count(trace, "steal")));
}

TEST_F(TasksTrace, ShowsSerializedTasksAndQueueLengths) {
  {
    auto options = traced();
    options.depth_cutoff = 3;
    runtime rt(options);
    rt.run([] { fib(12); });
    EXPECT_EQ(rt.counters()[0].cpu, 0);
  }
  {
    runtime rt(traced());
    rt.run([] { fib(20); });
  }
  auto const trace = read();
  EXPECT_EQ(trace["otherData"]["created"], 232 + 1 + 10'945 + 1);
  EXPECT_EQ(trace["otherData"]["serialized"], 232 - (1 + 2 + 4));
  EXPECT_GE(count(trace, "serialized"), 1);
  std::string const text = trace.dump();
  EXPECT_THAT(text, HasSubstr("queue length, worker"));
  EXPECT_THAT(text, HasSubstr("runtime 2 of process"));
}

TEST_F(TasksTrace, ShowsGuestsThatCameAndNoOthers) {
  {
    runtime rt(traced());
    rt.invoke([] { EXPECT_EQ(fib(10), 55); });
  }
  std::string const text = read().dump();
  EXPECT_THAT(text, HasSubstr("guest 0"));
  EXPECT_THAT(text, Not(HasSubstr("guest 1")));
  EXPECT_THAT(text, Not(HasSubstr("stand-in")));
}

TEST_F(TasksTrace, TheEnvironmentAsksForAllRuntimes) {
  ASSERT_EQ(::setenv("NIGH_TRACE", file.c_str(), 1), 0);
  {
    nigh::runtime_options options;
    options.machine = &machine;
    runtime rt(options);
    rt.run([] { fib(5); });
  }
  ::unsetenv("NIGH_TRACE");
  EXPECT_EQ(read()["otherData"]["created"], 7 + 1);
}

TEST_F(TasksTrace, NobodyAsksNothingIsWrittenOrCounted) {
  ::unsetenv("NIGH_TRACE");
  nigh::runtime_options options;
  options.machine = &machine;
  runtime rt(options);
  rt.run([] { fib(10); });
  for (auto const& c : rt.counters()) EXPECT_EQ(c.forked, 0u);
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
