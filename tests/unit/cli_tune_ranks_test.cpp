// SPDX-License-Identifier: Apache-2.0
// The configurations that `nigh tune` tries for programs of MPI ranks, and its reading of a
// launcher's command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cli/tune/last_words.hpp"
#include "cli/tune/launcher.hpp"
#include "cli/tune/outcome.hpp"
#include "cli/tune/ranks.hpp"
#include "cli/tune/tuning.hpp"
#include "environment.hpp"
#include "synthetic.hpp"

namespace {

using nigh::tests::synthetic;
using namespace nigh::cli;
using nigh::cpu_order;
using nigh::topology;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Words = std::vector<std::string>;

Space space(std::string const& description, Choices const& choices = {}) {
  return space_of_ranks(synthetic(description), choices, empty_environment).value();
}
std::string refusal(std::string const& description, Choices const& choices) {
  return space_of_ranks(synthetic(description), choices, empty_environment).message();
}

Words rank_names(Space const& space) {
  Words all;
  for (std::size_t i = 0; i < space.requests.size(); ++i)
    all.push_back(name_of(space, static_cast<int>(i)));
  return all;
}

std::set<int> numbers_of_ranks(Space const& space) {
  std::set<int> all;
  for (auto const& r : space.ranks) all.insert(r.per_host);
  return all;
}

// Bridges of the paper, with its second hardware threads.
constexpr auto bridges = "pack:2 numa:1 core:14 pu:2";

TEST(RankSpace, OfBridgesHasDivisorsAndPowersOfTwo) {
  auto const s = space(bridges);
  EXPECT_EQ(numbers_of_ranks(s), (std::set<int>{1, 2, 4, 8, 14, 16, 28}));
  auto const all = rank_names(s);
  EXPECT_EQ(all.front(), "(28 ranks, where the launcher puts them)");
  for (auto const* one : {"--ranks 28 --bind-ranks compact --threads 1",
                          "--ranks 28 --bind-ranks scatter --smt --threads 2",
                          "--ranks 4 --bind-ranks scatter --threads 7",
                          "--ranks 4 --bind-ranks compact --threads 6, 4 cores off",
                          "--ranks 2 --bind-ranks compact --threads 7, 14 cores off",
                          "--ranks 2 --bind-ranks compact --smt --threads 26, 2 cores off",
                          "--ranks 1 --bind-ranks compact --smt --threads 56"})
    EXPECT_THAT(all, Contains(one));
  EXPECT_THAT(all, Not(Contains(HasSubstr("--ranks 2 --bind-ranks scatter"))))
      << "the same as compact: a rank for each domain";
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(s.candidates.size(), all.size());
  EXPECT_EQ(all.size(), 61u);
}

TEST(RankSpace, NeverGivesOutMoreThanThereIs) {
  for (auto const* description : {bridges, "pack:2 numa:1 core:22 pu:4", "core:2 pu:1",
                                  "pack:1 numa:4 core:6 pu:1", "core:1 pu:2"}) {
    auto const host = synthetic(description);
    auto const s = space(description);
    for (std::size_t i = 0; i < s.requests.size(); ++i) {
      int const threads = s.ranks[i].per_host * s.requests[i].threads;
      EXPECT_GE(s.requests[i].threads, 1);
      EXPECT_LE(threads, s.ranks[i].smt ? static_cast<int>(host.cpus().size()) : host.cores())
          << description << ": " << name_of(s, static_cast<int>(i));
      EXPECT_GE(s.ranks[i].cores_off, 0);
    }
  }
}

TEST(RankSpace, OfTwoCores) {
  EXPECT_THAT(rank_names(space("core:2 pu:1")),
              ElementsAre("(2 ranks, where the launcher puts them)",
                          "--ranks 2 --bind-ranks compact --threads 1",
                          "--ranks 1 --bind-ranks compact --threads 2",
                          "--ranks 1 --bind-ranks compact --threads 1, 1 core off"));
}

TEST(RankSpace, HoldsWhatWasAskedFor) {
  Choices choices;
  choices.ranks = {3, 2};
  choices.threads = {2};
  choices.rank_orders = {cpu_order::scatter};
  choices.schedules = {parse_loops("guided").value(), parse_loops("static").value()};
  EXPECT_THAT(
      rank_names(space("pack:2 numa:1 core:4 pu:1", choices)),
      ElementsAre("(3 ranks of 2 threads, where the launcher puts them)",
                  "--ranks 3 --bind-ranks scatter --threads 2 --schedule guided, 2 cores off",
                  "--ranks 3 --bind-ranks scatter --threads 2 --schedule static, 2 cores off",
                  "--ranks 2 --bind-ranks scatter --threads 2 --schedule guided, 4 cores off",
                  "--ranks 2 --bind-ranks scatter --threads 2 --schedule static, 4 cores off"));
  EXPECT_THAT(refusal("core:2 pu:2", choices), HasSubstr("--ranks 3: only 2 cores are allowed"));
  choices.ranks = {1};
  choices.threads = {5};
  EXPECT_THAT(refusal("core:2 pu:2", choices), HasSubstr("--threads 5: 4 cpus are allowed"));
  choices.threads = {std::numeric_limits<int>::max()};
  EXPECT_THAT(refusal("pack:2 numa:1 core:2 pu:2", choices), HasSubstr("too few for so many"));
  choices.threads = {1};
  choices.memories = {parse_memory("bind:7").value()};
  EXPECT_THAT(refusal("core:2 pu:2", choices), HasSubstr("there is no domain 7"));
}

// A program of that many landscapes: memory that so many threads of a domain saturate, messages
// between ranks and waits of threads in a rank that cost, SMT that helps or harms, 3% of noise.
double made_up_time(Space const& s, std::size_t i, std::mt19937& landscape) {
  std::uniform_real_distribution<double> share(0, 1);
  double const saturated = 4 + 24 * share(landscape), by_rank = 0.03 * share(landscape),
               by_thread = 0.03 * share(landscape), smt = 0.8 + 0.5 * share(landscape),
               far = 1 + 0.1 * share(landscape);
  auto const& ranks = s.ranks[i];
  int const threads = s.requests[i].threads;
  int const cores = 28 - ranks.cores_off;
  double const speed = std::min<double>(cores, saturated) * (ranks.smt ? smt : 1.0);
  bool const apart = !ranks.order || *ranks.order == cpu_order::scatter;
  return (100 / speed + by_rank * ranks.per_host) * (1 + by_thread * threads / 4) *
         (apart ? far : 1.0) * (ranks.order ? 1.0 : 1.05);
}

TEST(RankSpace, IsSearchedByAThirdOfTheRuns) {
  auto const s = space(bridges);
  constexpr int landscapes = 20;
  int near = 0;
  for (int l = 0; l < landscapes; ++l) {
    std::vector<double> time;
    for (std::size_t i = 0; i < s.requests.size(); ++i) {
      std::mt19937 landscape(static_cast<unsigned>(l));
      time.push_back(made_up_time(s, i, landscape));
    }
    std::mt19937 random(static_cast<unsigned>(l));
    std::normal_distribution<double> noise(1, 0.03);
    nigh::tune::Search search(s.candidates, {});
    while (auto const c = search.next())
      search.tell(*c, time[static_cast<std::size_t>(*c)] * noise(random));
    EXPECT_LE(search.runs(), static_cast<int>(s.requests.size()) * 5 / 3);
    auto const found = time[static_cast<std::size_t>(search.standings().front().candidate)];
    near += found <= 1.03 * *std::min_element(time.begin(), time.end()) ? 1 : 0;
  }
  EXPECT_GE(near, landscapes * 9 / 10);
}

TEST(RankSpace, SaysHowARankIsStarted) {
  EXPECT_EQ(words_before_rank({.threads = 14, .schedule = parse_loops("guided").value()},
                              {4, cpu_order::scatter, true}, "nigh"),
            (Words{"nigh", "run", "--bind-ranks", "scatter", "--threads", "14", "--smt",
                   "--schedule", "guided", "--"}));
  EXPECT_EQ(words_before_rank({.threads = 2}, {4}, "nigh"),
            (Words{"env", "OMP_NUM_THREADS=2", "NIGH_WORKERS=2"}));
  auto const values = values_of({.threads = 7}, {4, cpu_order::compact}, 10, "nigh");
  EXPECT_EQ(values.ranks, 40);
  EXPECT_EQ(values.ranks_per_host, 4);
}

auto parse(Words words) {
  return LauncherLine::parse(std::move(words), [](std::string const& word) {
    return word == "./app" || word == "ssh" || word == "test" || word == "numactl";
  });
}
Words filled(Words words, bool launcher_binds = false) {
  return parse(std::move(words)).value()->words({40, 4, 7, launcher_binds, {"nigh", "run", "--"}});
}
std::string complaint(Words words) { return parse(std::move(words)).message(); }

TEST(LauncherLine, FillsPlaceholdersIn) {
  EXPECT_EQ(
      filled({"mpirun", "-n", "{ranks}", "./app", "-t{threads}"}),
      (Words{"mpirun", "--bind-to", "none", "-n", "40", "nigh", "run", "--", "./app", "-t7"}));
  EXPECT_EQ(filled({"/opt/bin/mpiexec.hydra", "-ppn", "{ranks_per_host}", "./app"}, true),
            (Words{"/opt/bin/mpiexec.hydra", "-ppn", "4", "nigh", "run", "--", "./app"}));
  EXPECT_EQ(filled({"timeout", "9", "srun", "-J", "test", "-n{ranks}", "./app"}),
            (Words{"timeout", "9", "srun", "--cpu-bind=none", "-J", "test", "-n40", "nigh", "run",
                   "--", "./app"}));
}

TEST(LauncherLine, FindsTheRanksProgram) {
  EXPECT_EQ(
      parse({"mpirun", "-launcher", "ssh", "-n", "{ranks}", "./app", "test"}).value()->program(),
      "./app");
  EXPECT_EQ(parse({"mpirun", "--mca", "ssh", "test", "-n", "{ranks}", "numactl", "-l", "./app"})
                .value()
                ->program(),
            "numactl");
  for (auto const* const option : {"--map-by", "--rank-by", "--wdir", "--hostfile", "--display"})
    EXPECT_EQ(parse({"mpirun", option, "test", "-n", "{ranks}", "./app"}).value()->program(),
              "./app")
        << option;
  EXPECT_EQ(filled({"site-launch", "test", "{ranks}", "{run}", "./app"}),
            (Words{"site-launch", "test", "40", "nigh", "run", "--", "./app"}));
  auto const told = parse({"mpirun", "test", "{ranks}", "{run}", "./app"}).value();
  EXPECT_EQ(told->program(), "./app");
  EXPECT_FALSE(told->is_guessed());
}

TEST(LauncherLine, LeavesABindingAloneThatSomebodyChose) {
  EXPECT_EQ(filled({"mpirun", "--bind-to", "numa", "{ranks}", "./app"}),
            (Words{"mpirun", "--bind-to", "numa", "40", "nigh", "run", "--", "./app"}));
  EXPECT_THAT(filled({"mpirun", "{ranks}", "./app", "--bind-to"}), Contains("none"))
      << "the program's own argument";
}

TEST(LauncherLine, OtherBracesAreSomebodyElses) {
  EXPECT_FALSE(*parse({"awk", "{print}", "{}", "x"}));
  EXPECT_FALSE(*parse({"mpirun", "-n", "4", "./app"}));
  EXPECT_EQ(filled({"mpirun", "{ranks}", "./app", "{}", "{1}", "{{x}", "a{B}", "}{"}).back(), "}{");
  EXPECT_THAT(filled({"mpirun", "{ranks}", "./app", "{{x}", "{A}"}), Contains("{x}"));
}

TEST(LauncherLine, SaysWhatMakesNoSense) {
  EXPECT_THAT(complaint({"./app", "{ranks}"}), HasSubstr("{ranks} is for launchers"));
  EXPECT_THAT(complaint({"mpirun", "-n", "2", "./app", "{threads}"}),
              HasSubstr("{threads} goes with {ranks}"));
  EXPECT_THAT(complaint({"mpirun", "{ranks}", "./app", "{cores}"}),
              HasSubstr("{cores} is none of"));
  EXPECT_THAT(complaint({"mpirun", "-n", "{ranks}", "./none"}), HasSubstr("write {run}"));
  for (Words const& words : {Words{"mpirun", "{ranks}", "x{run}", "./app"},
                             Words{"mpirun", "{ranks}", "{run}", "{run}", "./app"},
                             Words{"mpirun", "{ranks}", "./app", "{run}"}})
    EXPECT_THAT(complaint(words), HasSubstr("{run} is a word of its own")) << words.back();
}

TEST(LauncherReason, IsTheProgramsOrTheBoxs) {
  std::string const rule(74, '-');
  EXPECT_EQ(reason_of_launcher("step 1\ngrid: 7 does not divide 100\n\n" + rule +
                               "\nPrimary job terminated normally\n" + rule + "\n"),
            "grid: 7 does not divide 100");
  EXPECT_EQ(
      reason_of_launcher(rule + "\nThere are not enough slots for the 64\nslots:\n\n  true\n"),
      "There are not enough slots for the 64 slots "
      "(mpirun --oversubscribe or a host file allows more)");
  EXPECT_THAT(reason_of_launcher("\n" + std::string(75, '=') +
                                 "\n=   BAD TERMINATION OF ONE OF\n=   PID 7\n"),
              HasSubstr("BAD TERMINATION OF ONE OF PID 7"));
  EXPECT_EQ(reason_of_launcher(""), "");
}

TEST(RankOutcome, NamesBestAndBaseline) {
  auto const s = space("pack:2 numa:1 core:2 pu:1");
  nigh::tune::Search search(s.candidates, {});
  while (auto const c = search.next())
    search.tell(*c, *c == 0                                               ? 2.0
                    : s.ranks[static_cast<std::size_t>(*c)].per_host == 2 ? 1.0
                                                                          : 3.0);
  Metric const metric;
  Outcome const found{s, search, metric, Words(s.requests.size()), 1, ""};
  EXPECT_THAT(ranking_text(found), HasSubstr("2.00 times as good as 4 ranks, where the launcher"));
  auto const json = results_json(found, "x", synthetic("core:2 pu:1"));
  EXPECT_THAT(json, HasSubstr(R"("params":{"ranks":2,"bind_ranks":"compact","smt":0,)"));
}

// A program that takes so many ranks only, and is fastest with one.
std::string tuned(Space const& s, std::function<bool(int ranks)> const& takes, Words const& words) {
  Tuning tuning(s, Metric::in_output("time ([0-9]+)", false).value(), std::chrono::minutes(1),
                [&](int candidate) {
                  auto const& ranks = s.ranks[static_cast<std::size_t>(candidate)];
                  nigh::platform::Launch launch;
                  launch.words = words;
                  launch.words.push_back(
                      takes(ranks.per_host) ? "time " + std::to_string(ranks.per_host) : "$(bad)");
                  return launch;
                },
                {.repetitions = 1});
  EXPECT_EQ(tuning.run(), 0);
  return tuning.failure().empty() ? ranking_text(tuning.outcome()) : tuning.failure();
}
Words const says{"/bin/sh", "-c", "case $0 in time*) echo $0;; *) echo odd; exit 3;; esac"};

TEST(RankTuning, NumbersOfRanksThatAProgramRefusesAreOut) {
  auto const s = space("pack:2 numa:1 core:6 pu:1");
  auto const text = tuned(s, [](int ranks) { return ranks < 4; }, says);
  EXPECT_THAT(text, HasSubstr("   1  --ranks 1 "));
  EXPECT_THAT(text,
              HasSubstr("out: (12 ranks, where the launcher puts them): its exit status is 3, "
                        "its last words: odd\n"));
  EXPECT_THAT(text, HasSubstr("others of so many ranks are out, too"));
  int runs = 0;
  for (std::size_t at = 0; (at = text.find("out: --ranks 4 ", at)) != text.npos; ++at) ++runs;
  EXPECT_EQ(runs, 2);
}

TEST(RankTuning, SaysWhyNothingRuns) {
  auto const s = space("core:2 pu:1");
  EXPECT_THAT(
      tuned(
          s, [](int) { return false; }, says),
      HasSubstr("nothing can be measured; (2 ranks, where the launcher puts them): its exit "
                "status is 3, its last words: odd"));
  EXPECT_THAT(tuned(s, [](int) { return true; }, {"./no-such-launcher"}),
              HasSubstr("cannot run ./no-such-launcher"));
}

}  // namespace
