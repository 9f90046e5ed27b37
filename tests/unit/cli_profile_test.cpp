// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/profile/durations.hpp"
#include "cli/profile/region_times.hpp"
#include "cli/profile/store.hpp"
#include "cli/profile/study.hpp"
#include "cli/profile/study_text.hpp"
#include "cli/profile/team_sizes.hpp"
#include "cli/program_output.hpp"

namespace nigh::cli {
namespace {

using coordinator::Source;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(TeamSizes, AreAllOfFewCpusAndSomeOfMany) {
  EXPECT_THAT(usual_team_sizes(1), ElementsAre(1));
  EXPECT_THAT(usual_team_sizes(8), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(usual_team_sizes(9), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(usual_team_sizes(32), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32));
  EXPECT_THAT(usual_team_sizes(40), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 40));
}

TEST(TeamSizes, AsSomebodyListsThem) {
  EXPECT_THAT(parse_team_sizes("1", 8).value(), ElementsAre(1));
  EXPECT_THAT(parse_team_sizes("4,2,1,2", 8).value(), ElementsAre(1, 2, 4));
  EXPECT_THAT(parse_team_sizes("1..4,8", 8).value(), ElementsAre(1, 2, 3, 4, 8));
  for (char const* wrong :
       {"", ",", "1,", "0", "-1", "two", "4..2", "1..", "..4", "1-4", "1.5", "1 2"})
    EXPECT_THAT(parse_team_sizes(wrong, 8).message(), HasSubstr("does not list")) << wrong;
  EXPECT_EQ(parse_team_sizes("1..9", 8).message(), "9 threads: only 8 cpus are allowed");
  EXPECT_FALSE(parse_team_sizes("99999999999", 8));
}

TEST(Durations, HaveThreeDigits) {
  EXPECT_EQ(duration_text(1), "1 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(999.6), "1.00 us");
  EXPECT_EQ(duration_text(61'040), "61.0 us");
  EXPECT_EQ(duration_text(99'960), "100 us");
  EXPECT_EQ(duration_text(2.5e9), "2.50 s");
  EXPECT_EQ(duration_text(1e12), "1000 s");
}

TEST(Output, LastLines) {
  EXPECT_EQ(last_lines("", 3), "");
  EXPECT_EQ(last_lines("\n\n", 3), "");
  EXPECT_EQ(last_lines("a\n", 1), "a");
  EXPECT_EQ(last_lines("a\nb\n\n", 1), "b");
  EXPECT_EQ(last_lines("a\nb\nc", 2), "b\nc");
  EXPECT_EQ(last_lines("a\nb\nc\n", 3), "a\nb\nc");
  EXPECT_EQ(last_lines("\na\nb", 5), "a\nb");
  EXPECT_EQ(last_lines("a\nwrong: b?! \n\n=====\n --\n", 1), "wrong: b?!");
  EXPECT_EQ(last_lines("a\n\xc3\xa4!\n---", 2), "a\n\xc3\xa4!");
  EXPECT_EQ(last_lines("-\n==", 1), "==");
}

constexpr char const* written =
    "nigh-openmp-times 1 2 3 /opt/a program\n"
    "0x11d0 2 10 5000 400 500 600 /opt/a program\n"
    "0x12340000000011d0 3 1 700 700 700 700 /lib/libx.so\n"
    "0x8000000000001234 2 1 90 90 90 90 \n"
    "0x11e0 2 0 0 0 0 0 /opt/a program\n";

TEST(RegionTimes, AreWhatWasWritten) {
  auto const times = parse_times(written);
  ASSERT_TRUE(times) << times.message();
  EXPECT_EQ(times->team, 2);
  EXPECT_EQ(times->lost, 3U);
  EXPECT_EQ(times->program, "/opt/a program");
  ASSERT_EQ(times->regions.size(), 3U);  // one did not run
  auto const& t = times->regions[0];
  EXPECT_EQ(t.region, 0x11d0U);
  EXPECT_EQ(t.threads, 2);
  EXPECT_EQ(t.runs, 10U);
  EXPECT_EQ(t.total_ns, 5000U);
  EXPECT_EQ(t.p10_ns, 400U);
  EXPECT_EQ(t.median_ns, 500U);
  EXPECT_EQ(t.p90_ns, 600U);
  EXPECT_EQ(t.file, "/opt/a program");
  EXPECT_EQ(times->regions[1].file, "/lib/libx.so");
  EXPECT_EQ(times->regions[2].file, "");
}

TEST(RegionTimes, WhatIsDamagedIsNamed) {
  std::string const whole = written;
  for (std::size_t n = 0; n < whole.size(); ++n) {
    auto const cut = parse_times(whole.substr(0, n));
    // At the end of a line it may be whole.
    EXPECT_TRUE(!cut || whole[n - 1] == '\n') << n;
  }
  EXPECT_THAT(parse_times("nigh-openmp-times 2 1 0 /x\n").message(), HasSubstr("another nigh"));
  EXPECT_THAT(parse_times("nigh-openmp-times 1 0 0 /x\n").message(), HasSubstr("another nigh"));
  EXPECT_THAT(parse_times("nigh-openmp-times 1 1 0 /x\n0x1 -1 1 1 1 1 1 /x\n").message(),
              HasSubstr("damaged: 0x1"));
  std::string many = "nigh-openmp-times 1 1 0 /x\n";
  for (int i = 0; i < 1025; ++i) many += "1 1 1 1 1 1 1\n";
  EXPECT_THAT(parse_times(many).message(), HasSubstr("more than 1024 regions"));
  EXPECT_THAT(parse_times("nigh-openmp-times 1 1 0 /x\nwhat\n").message(),
              HasSubstr("damaged: what"));
}

ProcessTimes process(int team, std::vector<RegionTime> regions) {
  return {team, 0, "/opt/solver", std::move(regions)};
}
RegionTime time_of(std::uint64_t region, int threads, std::uint64_t runs, std::uint64_t each_ns) {
  return {region, threads, runs, runs * each_ns, each_ns, each_ns, each_ns, "/opt/solver"};
}

// Region 1 is twice as fast with two threads, region 2 is not, region 3 has always three.
StudyLog three_rounds() {
  StudyLog log;
  for (std::uint64_t const noise : {0U, 100U, 20U})
    for (int const team : {1, 2}) {
      auto const n = static_cast<std::uint64_t>(team);
      log.add(team, 0.01,
              {process(team, {time_of(1, team, 100, (10'000 + noise) / n),
                              time_of(2, team, 1000, 5'000 + noise), time_of(3, 3, 1, 90'000)})});
    }
  return log;
}

TEST(Study, FindsBothCountsOfEachRegion) {
  auto const study = three_rounds().study();
  ASSERT_EQ(study.programs.size(), 1U);
  auto const& regions = study.programs[0].regions;
  ASSERT_EQ(regions.size(), 3U);
  EXPECT_EQ(regions[0].id, 2U);  // 5 ms of 10
  EXPECT_NEAR(regions[0].share, 0.502, 1e-6);
  EXPECT_EQ(regions[0].demand, (policy::ThreadDemand{1, 1}));
  EXPECT_EQ(regions[1].id, 1U);
  EXPECT_EQ(regions[1].demand, (policy::ThreadDemand{2, 2}));
  ASSERT_EQ(regions[1].teams.size(), 2U);
  auto const& two = regions[1].teams[1];
  EXPECT_THAT(two.samples_ns, ElementsAre(5000, 5050, 5010));
  EXPECT_EQ(two.ns(), 5010);
  EXPECT_EQ(two.runs, 300U);
  EXPECT_NEAR(two.spread(), 50.0 / 5010, 1e-9);
  EXPECT_NEAR(regions[1].speedup(two), 2, 1e-3);
  EXPECT_EQ(regions[2].id, 3U);
  EXPECT_FALSE(regions[2].demand);
  EXPECT_EQ(regions[2].teams.size(), 1U);
  EXPECT_NEAR(widest_spread(study), 100.0 / 5020, 1e-9);
}

TEST(Study, AddsUpTheProcessesOfARun) {
  StudyLog log;
  auto other = process(1, {time_of(7, 1, 1, 50)});
  other.program = "/opt/other";
  log.add(1, 1,
          {process(1, {time_of(1, 1, 10, 100)}), process(1, {time_of(1, 1, 30, 200)}), other});
  auto const study = log.study();
  ASSERT_EQ(study.programs.size(), 2U);
  EXPECT_EQ(study.programs[0].path, "/opt/other");
  auto const& team = study.programs[1].regions[0].teams[0];
  EXPECT_EQ(team.runs, 40U);
  EXPECT_THAT(team.samples_ns, ElementsAre(175));
  EXPECT_EQ(team.median_ns, 200);  // of the one with most runs
}

// num_threads(omp_get_max_threads()): with teams of one it asks for one thread.
TEST(Study, RegionsThatAskForOneThreadFollowTheTeam) {
  StudyLog log;
  for (int round = 0; round < 2; ++round) {
    log.add(1, 0.01,
            {process(1, {time_of(1, 0, 10, 8'000), time_of(2, 0, 10, 4'000), time_of(3, 0, 5, 100),
                         time_of(4, 0, 9, 10), time_of(4, 1, 10, 8'000), time_of(5, 3, 1, 900)})});
    log.add(2, 0.01,
            {process(2, {time_of(1, 2, 10, 4'000), time_of(2, 2, 5, 3'000), time_of(2, 0, 5, 1'000),
                         time_of(3, 0, 5, 100), time_of(4, 0, 9, 10), time_of(4, 2, 10, 4'000),
                         time_of(5, 0, 1, 100), time_of(5, 3, 1, 900)})});
  }
  auto const study = log.study();
  std::map<std::uint64_t, std::vector<std::pair<int, double>>> times;
  for (auto const& region : study.programs[0].regions)
    for (auto const& team : region.teams) times[region.id].emplace_back(team.threads, team.ns());
  using Times = std::vector<std::pair<int, double>>;
  EXPECT_EQ(times[1], (Times{{1, 8'000}, {2, 4'000}}));
  EXPECT_EQ(times[2], (Times{{1, 4'000}, {2, 2'000}})) << "if() is false for half of its runs";
  EXPECT_EQ(times[3], (Times{{1, 100}})) << "always one thread";
  EXPECT_EQ(times[4], (Times{{1, 8'000}, {2, 4'000}})) << "no clause, and an if()";
  EXPECT_EQ(times[5], (Times{{3, 900}}));
}

TEST(Study, IsATable) {
  auto const text = study_text(three_rounds().study());
  EXPECT_THAT(text, HasSubstr("0x2                      1000   50.2%  time      5.02 us   5.02 us"
                              "                  1        1\n"));
  EXPECT_THAT(text, HasSubstr("speedup      1.00      2.00\n"));
  EXPECT_THAT(text, HasSubstr("fixed\n"));
}

TEST(Study, HasNoSpeedupWithoutATeamOfOne) {
  StudyLog log;
  for (int const team : {2, 4})
    log.add(team, 0.04 / team, {process(team, {time_of(1, team, 10, 40'000U / static_cast<unsigned>(team))})});
  auto const text = study_text(log.study());
  std::istringstream lines(text);
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.find("speedup  ") != line.npos) {
      EXPECT_THAT(line, HasSubstr("speedup         -         -")) << text;
      ++rows;
    }
  EXPECT_EQ(rows, 2U);
}

TEST(Study, IsLinesOfResults) {
  std::istringstream lines(study_json(three_rounds().study(), {"abc", "made up", "2 cpus", "now"}));
  std::vector<nlohmann::json> parsed;
  for (std::string line; std::getline(lines, line);) parsed.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(parsed.size(), 2U + 5U);
  EXPECT_EQ(parsed[0]["variant"], "(all of the program)");
  auto const& line = parsed[5];
  EXPECT_EQ(line["bench"], "profile");
  EXPECT_EQ(line["params"]["region"], "0x1");
  EXPECT_EQ(line["params"]["threads"], 2);
  EXPECT_EQ(line["metric"], "time_per_region");
  EXPECT_EQ(line["median"], 5010);
  EXPECT_EQ(line["samples"].size(), 3U);
  EXPECT_EQ(line["counters"]["maximum"], 2);
  EXPECT_EQ(line["counters"]["optimal"], 2);
  EXPECT_EQ(line["run"]["commit"], "abc");
  EXPECT_FALSE(parsed[6]["counters"].contains("maximum"));
}

TEST(Study, IsKeptButForWhatTheUserGave) {
  coordinator::ProgramProfile profile{.program = "solver", .binary = 1};
  profile.regions = {{.id = 1, .source = Source::given, .demand = {1, 1}},
                     {.id = 2, .source = Source::learnt, .demand = {2, 2}},
                     {.id = 9, .source = Source::learnt, .demand = {2, 2}}};
  keep(three_rounds().study().programs[0], 2, profile);
  EXPECT_EQ(profile.path, "/opt/solver");
  EXPECT_EQ(profile.cpus, 2U);
  ASSERT_EQ(profile.regions.size(), 3U);  // none for the one with teams of one size
  EXPECT_EQ(profile.find(1)->source, Source::given);
  EXPECT_EQ(profile.find(1)->demand, (coordinator::Demand{1, 1}));
  EXPECT_EQ(profile.find(2)->source, Source::measured);
  EXPECT_EQ(profile.find(2)->demand, coordinator::Demand{}) << "as fast with one as with two";
  EXPECT_TRUE(profile.find(2)->is_indifferent);
  EXPECT_THAT(profile.find(2)->times, ElementsAre(coordinator::TeamTime{1, 5020, 3000, 100},
                                                  coordinator::TeamTime{2, 5020, 3000, 100}));
  EXPECT_EQ(profile.find(9)->source, Source::learnt);
  EXPECT_TRUE(coordinator::parse_profile(coordinator::profile_text(profile)));
}

}  // namespace
}  // namespace nigh::cli
