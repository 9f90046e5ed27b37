// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "cli/report/budget.hpp"
#include "cli/report/next_steps.hpp"
#include "cli/report/trace_series.hpp"
#include "cli/report/usage_series.hpp"

namespace nigh::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ScalingBudget, RepetitionsGoFirstThenTheSmallestTeams) {
  ScalingRuns const all{{1, 2, 4}, 3};  // 4 + 2 + 1 seconds a round, if it scales
  EXPECT_EQ(within_budget(all, 1, 4, 21).repetitions, 3);
  EXPECT_EQ(within_budget(all, 1, 4, 20).repetitions, 2);
  auto const few = within_budget(all, 1, 4, 3);
  EXPECT_EQ(few.repetitions, 1);
  EXPECT_THAT(few.sizes, ElementsAre(2, 4));
  EXPECT_THAT(within_budget(all, 1, 4, 2).sizes, IsEmpty())
      << "one size has nothing to compare with";
  EXPECT_THAT(within_budget({{1}, 3}, 1, 4, 20).sizes, ElementsAre(1)) << "unless it is all that is wanted";
}

TEST(UsageSeries, WorkIsSpreadOverTheTimeBetweenSamples) {
  UsageSeries series;
  series.add(1, {{1, 1, "a", 0, 1'000'000'000, {}}});
  series.add(3, {{1, 1, "a", 5, 2'000'000'000, {}}, {1, 2, "b", 0, 2'000'000'000, {}}});
  auto const busy = series.busy(4, 4);
  EXPECT_THAT(busy.at(0), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(busy.at(5), ElementsAre(0, 0.5, 0.5, 0));
}

TEST(UsageSeries, LongRunsAreKeptCoarser) {
  UsageSeries series;
  constexpr int samples = 20'000;
  for (int i = 1; i <= samples; ++i)
    series.add(i, {{1, 1, "a", 0, static_cast<std::uint64_t>(i) * 500'000'000, {}}});
  auto const busy = series.busy(samples, 10);
  for (double const share : busy.at(0)) EXPECT_NEAR(share, 0.5, 0.01);
}

class TraceFile {
 public:
  explicit TraceFile(std::string const& text)
      : path_(std::filesystem::temp_directory_path() /
              ("nigh-series." + std::to_string(std::random_device{}()))) {
    std::ofstream(path_) << text;
  }
  ~TraceFile() { std::filesystem::remove(path_); }
  TraceFile(TraceFile&&) = delete;
  std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(TraceSeries, NestedTasksCountOnceAndWaitsInsideThemNot) {
  TraceFile const trace(
      "{\"traceEvents\":[\n"
      R"({"ph":"M","name":"thread_name","pid":0,"tid":7,"args":{"name":"worker 0"}},)"
      "\n"
      R"({"ph":"X","name":"task","pid":0,"tid":7,"ts":1000000,"dur":1000000,"args":{}},)"
      "\n"
      R"({"ph":"X","name":"parked","pid":0,"tid":7,"ts":2000000,"dur":1000000,"args":{}},)"
      "\n"
      R"({"ph":"X","name":"task","pid":0,"tid":7,"ts":0,"dur":4000000,"args":{}},)"
      "\n"
      R"({"ph":"i","s":"t","name":"steal","pid":0,"tid":7,"ts":500000,"args":{"level":"l3","tasks":2}},)"
      "\n"
      R"({"ph":"i","s":"t","name":"steal","pid":0,"tid":7,"ts":"soon","args":[]},)"
      "\n"
      "not an event\n");
  auto const series = read_series(trace.path(), 4);
  ASSERT_TRUE(series) << series.message();
  EXPECT_DOUBLE_EQ(series->seconds, 4);
  ASSERT_EQ(series->workers.size(), 1U);
  EXPECT_EQ(series->workers[0].name, "worker 0");
  EXPECT_THAT(series->workers[0].working, ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(series->workers[0].asleep, ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(series->tasks, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(series->steals.at("l3"), ElementsAre(1, 0, 0, 0));
}

TEST(TraceSeries, WithoutEventsThereIsAReason) {
  TraceFile const trace("{}\n");
  EXPECT_THAT(read_series(trace.path(), 4).message(), HasSubstr("no events"));
}

// A program of four cpus that uses them.
Measured well() {
  Measured m;
  m.words = {"./app", "a b"};
  m.cpus = 4;
  m.domains = 1;
  m.seconds = 10;
  m.cpu_seconds = 39;
  return m;
}

StudiedRegion region(int line, double share, std::vector<double> ns) {
  StudiedRegion r;
  r.code.at.source = "/src/app.cpp";
  r.code.at.line = line;
  r.share = share;
  int threads = 1;
  for (double const t : ns) r.teams.push_back({threads, {t}, 1}), threads *= 2;
  r.demand = policy::ThreadDemand{threads / 2, 1};
  return r;
}

TEST(NextSteps, NothingWhereAllIsWell) { EXPECT_THAT(next_steps(well()), IsEmpty()); }

TEST(NextSteps, TheRegionThatCostsMostComesFirst) {
  auto m = well();
  m.study = Study{};
  m.study->programs.push_back(
      {"./app", {region(10, 0.6, {100, 60, 50}), region(20, 0.38, {100, 52, 27})}});
  m.configurations = 6;
  auto const steps = next_steps(m);
  ASSERT_EQ(steps.size(), 2U) << "the second region scales";
  EXPECT_EQ(steps[0].title, "Look at app.cpp:10: 2.0 times as fast on 4 threads as on one");
  EXPECT_EQ(steps[0].command, "nigh profile --keep -- ./app 'a b'");
  EXPECT_EQ(steps[1].command, "nigh tune -- ./app 'a b'");
}

TEST(NextSteps, FewerThreadsWhereMoreAreSlower) {
  auto m = well();
  m.study = Study{};
  m.study->whole = {{1, {8}}, {2, {5}}, {4, {6}}};
  auto const steps = next_steps(m);
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps[0].title, "Run it with 2 threads");
  EXPECT_EQ(steps[0].command, "nigh run --threads 2 -- ./app 'a b'");
}

TEST(NextSteps, ABusyMachineIsSaidBeforeAll) {
  auto m = well();
  m.migrations = 1000;
  m.findings = {{"smt", "Cores are shared.", "", ""},
                {"oversubscription", "Others keep it busy.", "", ""}};
  auto const steps = next_steps(m);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].title, "Others keep it busy.");
  EXPECT_THAT(steps[1].title, HasSubstr("moved 100 times a second"));
  EXPECT_EQ(steps[2].title, "Cores are shared.");
}

TEST(NextSteps, LeavesOutWhatMakesNothingFaster) {
  auto m = well();
  for (auto const* id : {"one-domain", "virtual-machine", "no-hardware-counters"})
    m.findings.push_back({id, "It is so.", "", ""});
  EXPECT_TRUE(next_steps(m).empty());
}

TEST(NextSteps, MemoryInAnotherDomain) {
  auto m = well();
  m.domains = 2;
  m.remote_pages = 0.5;
  auto const steps = next_steps(m);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].command, "nigh run --bind compact --mem interleave -- ./app 'a b'");
}

TEST(NextSteps, TasksThatNighRunsFaster) {
  auto m = well();
  m.seconds_with_our_tasks = 4;
  EXPECT_TRUE(next_steps(m).empty()) << "that run had no input, the program's own may have had some";
  m.study = Study{};
  m.study->whole = {{1, {9}}, {2, {6}}};
  auto const steps = next_steps(m);
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps[0].command, "nigh run --tasks prefer -- ./app 'a b'");
  EXPECT_THAT(steps[0].why, HasSubstr("took 4 s"));
  EXPECT_THAT(steps[0].why, HasSubstr("6 s with 2 threads"));
  m.seconds_with_our_tasks = 5.9;
  EXPECT_TRUE(next_steps(m).empty());
}

TEST(NextSteps, TasksThatAreTooSmall) {
  auto m = well();
  m.tasks = 1'000'000;
  m.mean_task_ns = 60;
  EXPECT_THAT(next_steps(m).at(0).title, HasSubstr("60 ns each"));
}

}  // namespace
}  // namespace nigh::cli
