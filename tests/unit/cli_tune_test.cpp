// SPDX-License-Identifier: Apache-2.0
// The configurations that `nigh tune` tries on a machine, its reading of a program's output, and
// its own output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "cli/tune/kept_profile.hpp"
#include "cli/tune/metric.hpp"
#include "cli/tune/others_use.hpp"
#include "cli/tune/outcome.hpp"
#include "cli/tune/space.hpp"
#include "environment.hpp"
#include "synthetic.hpp"

namespace {

using nigh::tests::synthetic;
using namespace nigh::cli;
using nigh::topology;
using nigh::platform::ElfFacts;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::set<std::string> names(Space const& space) {
  std::set<std::string> all;
  for (auto const& r : space.requests) all.insert(to_string(r));
  return all;
}

TEST(Space, OfTwoDomainsHasEveryOption) {
  auto const space =
      space_of(synthetic("pack:2 numa:1 core:2 pu:2"), {}, Hears::openmp, empty_environment).value();
  EXPECT_THAT(space.notes, IsEmpty());
  // Threads 8, 4, 2 in two bindings, 1 in one; two memory policies; four schedules or none; and
  // none at all.
  EXPECT_EQ(space.requests.size(), 1u + (3 * 2 + 1) * 2 * 5);
  EXPECT_EQ(space.candidates.size(), space.requests.size());
  EXPECT_EQ(space.requests[0], Request{});
  EXPECT_THAT(names(space),
              Contains("--threads 4 --bind scatter --mem interleave --schedule guided"));
  EXPECT_THAT(names(space), Not(Contains(HasSubstr("local"))));
}

TEST(Space, OfOneDomainSaysWhatCannotMatter) {
  auto const space = space_of(synthetic("core:2 pu:1"), {}, Hears::nothing, empty_environment).value();
  EXPECT_EQ(names(space), (std::set<std::string>{"", "--threads 1 --bind compact",
                                                 "--threads 2 --bind compact"}));
  ASSERT_EQ(space.notes.size(), 3u);
  EXPECT_THAT(space.notes[0], HasSubstr("compact and scatter are the same"));
  EXPECT_THAT(space.notes[1], HasSubstr("memory policies cannot matter"));
  EXPECT_THAT(space.notes[2], HasSubstr("schedules are left out"));
}

TEST(Space, KeepsWithinAQuota) {
  auto const t = synthetic("pack:1 numa:1 core:8 pu:1");
  auto const space = space_of(t, {}, Hears::nothing, empty_environment, 2.5).value();
  EXPECT_EQ(names(space),
            (std::set<std::string>{"", "--threads 1 --bind compact", "--threads 2 --bind compact",
                                   "--threads 3 --bind compact"}));
  EXPECT_THAT(space.notes, Contains(HasSubstr("has time for 3 threads: more are left out")));
  EXPECT_EQ(names(space_of(t, {}, Hears::nothing, empty_environment, 8).value()),
            names(space_of(t, {}, Hears::nothing, empty_environment).value()));
  Choices asked;
  asked.threads = {8};
  EXPECT_THAT(names(space_of(t, asked, Hears::nothing, empty_environment, 1).value()),
              Contains("--threads 8 --bind compact"));
}

TEST(Space, HasNoMoreThreadsThanPlacesThatAreNamed) {
  Choices choices;
  choices.binds = {parse_binding("0,1,2").value(), parse_binding("3").value()};
  EXPECT_EQ(names(space_of(synthetic("core:4 pu:1"), choices, Hears::nothing, empty_environment).value()),
            (std::set<std::string>{"", "--threads 3 --bind {0},{1},{2}", "--threads 2 --bind {0},{1},{2}",
                                   "--threads 1 --bind {0},{1},{2}", "--threads 1 --bind {3}"}));
  choices.threads = {4};
  EXPECT_THAT(space_of(synthetic("core:4 pu:1"), choices, Hears::nothing, empty_environment).message(),
              StartsWith("--threads 4: --bind names only 3 places"));
}

TEST(Space, TakesNothingTwice) {
  // With one thread, both bindings mean the same cpu.
  auto const space =
      space_of(synthetic("pack:2 numa:1 core:2 pu:1"), {}, Hears::nothing, empty_environment).value();
  EXPECT_THAT(names(space), Contains("--threads 1 --bind compact"));
  EXPECT_THAT(names(space), Not(Contains("--threads 1 --bind scatter")));
}

TEST(Space, HoldsWhatWasAskedFor) {
  Choices choices;
  choices.threads = {3, 2};
  choices.memories = {parse_memory("bind:1").value()};
  choices.schedules = {parse_loops("static,4").value()};
  auto const space =
      space_of(synthetic("pack:2 numa:1 core:2 pu:1"), choices, Hears::nothing, empty_environment).value();
  EXPECT_EQ(names(space), (std::set<std::string>{
                              "", "--threads 3 --bind compact --mem bind:1 --schedule static,4",
                              "--threads 3 --bind scatter --mem bind:1 --schedule static,4",
                              "--threads 2 --bind compact --mem bind:1 --schedule static,4",
                              "--threads 2 --bind scatter --mem bind:1 --schedule static,4"}));
  choices.threads = {9};
  EXPECT_THAT(space_of(synthetic("core:2 pu:1"), choices, Hears::nothing, empty_environment).message(),
              StartsWith("--threads 9: only 2 cpus"));
}

TEST(Hears, WhatTheProgramIsLinkedTo) {
  EXPECT_EQ(hears({true, true, {"libgomp.so.1", "libc.so.6"}, {"GOMP_parallel"}}), Hears::nothing);
  EXPECT_EQ(
      hears({true, true, {"libgomp.so.1"}, {"GOMP_parallel_loop_maybe_nonmonotonic_runtime"}}),
      Hears::openmp);
  EXPECT_EQ(hears({true, true, {"libomp.so.5"}, {"__kmpc_fork_call"}}), Hears::nothing);
  EXPECT_EQ(hears({true, true, {"libomp.so.5"}, {"__kmpc_dispatch_init_4"}}), Hears::openmp);
  EXPECT_EQ(hears({true, true, {"libnigh.so.0"}, {}}), Hears::all);
  EXPECT_EQ(hears({true, true, {"libsolver.so"}, {}}), Hears::all) << "its loops may be in there";
  EXPECT_EQ(hears({true, true, {"libc.so.6"}, {}}), Hears::all) << "a shell may start any program";
  EXPECT_EQ(hears({true, false, {}, {}}), Hears::all) << "linked statically: nobody can know";
}

TEST(Metric, IsTheLastMatchsFirstGroup) {
  auto const m = Metric::in_output("rate = ([0-9.]+)", true).value();
  EXPECT_DOUBLE_EQ(m.value(9, "rate = 1.5\nrate = 2.5 Mop/s\ndone\n").value(), 2.5);
  EXPECT_LT(m.cost(2.5), m.cost(1.5));
  EXPECT_DOUBLE_EQ(m.value_of_cost(m.cost(2.5)), 2.5);
  EXPECT_FALSE(m.is_time());
}

TEST(Metric, IsTimeByDefault) {
  Metric const m;
  EXPECT_TRUE(m.is_time());
  EXPECT_DOUBLE_EQ(m.value(1.25, "").value(), 1.25);
  EXPECT_DOUBLE_EQ(m.cost(1.25), 1.25);
}

TEST(Metric, SaysWhatIsWrong) {
  EXPECT_THAT(Metric::in_output("(", false).message(), HasSubstr("no regular expression"));
  EXPECT_THAT(Metric::in_output("time", false).message(), HasSubstr("has no group"));
  auto const m = Metric::in_output("t=([a-z0-9.-]*)", false).value();
  EXPECT_THAT(m.value(1, "nothing").message(), HasSubstr("nothing that matches"));
  for (auto const* bad : {"t=", "t=abc", "t=-1", "t=0", "t=nan", "t=inf", "t=1e400"})
    EXPECT_THAT(m.value(1, bad).message(), HasSubstr("no positive number")) << bad;
}

// The first overflowed the stack, the second took for ever.
TEST(Metric, NeedsNoStackAndNoTimeForLongLines) {
  std::string const line(1'000'000, 'a');
  auto const any = Metric::in_output("(.|a)*t=([0-9.]+)", false);
  ASSERT_TRUE(any.ok());
  EXPECT_THAT(any->value(1, line).message(), HasSubstr("nothing that matches"));
  auto const nested = Metric::in_output("((a+)+)+t=", false);
  ASSERT_TRUE(nested.ok());
  EXPECT_THAT(nested->value(1, line).message(), HasSubstr("nothing that matches"));
  auto const number = Metric::in_output("t=([0-9.]+)", false);
  EXPECT_DOUBLE_EQ(number->value(1, line + "t=2.5").value(), 2.5);
}

TEST(Metric, ReadsWhatProgressBarsAndOtherBytesSurround) {
  auto const m = Metric::in_output("^rate ([0-9.]*)$", true).value();
  EXPECT_DOUBLE_EQ(m.value(1, "\xff 10%\rrate 1.5\r 20%\xfe\n").value(), 1.5);
  EXPECT_DOUBLE_EQ(Metric::in_output("([0-9.]+)", true)->value(1, "1.5 2.5 end").value(), 2.5);
  EXPECT_THAT(Metric::in_output("([0-9]*)", true)->value(1, "x").message(),
              HasSubstr("'' in its output is no positive number"));
}

TEST(Duration, IsReadWithItsUnit) {
  using std::chrono::seconds;
  EXPECT_EQ(parse_duration("90").value(), seconds(90));
  EXPECT_EQ(parse_duration("90s").value(), seconds(90));
  EXPECT_EQ(parse_duration("10m").value(), seconds(600));
  EXPECT_EQ(parse_duration("1.5h").value(), seconds(5400));
  for (auto const* bad : {"", "m", "0", "-1s", "10 m", "1d", "nan", "inf", "1e99h"})
    EXPECT_FALSE(parse_duration(bad).ok()) << bad;
}

struct Found {
  Space space = space_of(synthetic("pack:2 numa:1 core:2 pu:1"), {}, Hears::nothing, empty_environment).value();
  nigh::tune::Search search{space.candidates, {}};
  Metric metric;
  std::vector<std::string> failures = std::vector<std::string>(space.requests.size());

  // Costs by configuration, for ever.
  template <class F>
  Outcome with(F cost) {
    while (auto const c = search.next())
      search.tell(*c, cost(space.requests[static_cast<std::size_t>(*c)]));
    return {space, search, metric, failures, 12.3, ""};
  }
};

TEST(Ranking, NamesTheBestAndWhatItIsWorth) {
  Found found;
  auto const text = ranking_text(
      found.with([](Request const& r) { return r.threads == 0 ? 2.0 : 4.0 / r.threads; }));
  EXPECT_THAT(text, HasSubstr("   1  --threads 4 --bind "));
  EXPECT_THAT(text, HasSubstr("(as it is)"));
  EXPECT_THAT(text, HasSubstr("The best is 2.00 times as good as the program as it is"));
  EXPECT_THAT(text, HasSubstr("runs in 12 s"));
}

TEST(Ranking, TellsWhatIsSureFromWhatIsNot) {
  Found found;
  auto const text = ranking_text(found.with([](Request const& r) {
    if (r.threads == 0) return 2.0;
    return r.threads == 4 && r.bind->order == nigh::cpu_order::compact ? 1.001 : 1.0;
  }));
  auto const sure = text.find("; that it is better is sure to 99%.\nWhich of the best and ");
  EXPECT_NE(sure, text.npos) << text;
  EXPECT_THAT(text, HasSubstr(" others is really the best is not sure: they are within its spread.\n"));
}

TEST(Ranking, AdmitsWhenNothingHelps) {
  Found same;
  EXPECT_THAT(
      ranking_text(same.with([](Request const& r) { return r.threads == 0 ? 1.001 : 1.0; })),
      HasSubstr("No configuration is reliably better"));
  Found worse;
  EXPECT_THAT(ranking_text(worse.with([](Request const& r) { return r.threads == 0 ? 1.0 : 2.0; })),
              HasSubstr("Nothing that was tried beats the program as it is"));
}

TEST(Json, HasALineForEachThatWasMeasured) {
  Found found;
  std::istringstream lines(
      results_json(found.with([](Request const& r) { return 1.0 + r.threads; }), "x",
                   synthetic("core:2 pu:1")));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    auto const json = nlohmann::json::parse(line);
    EXPECT_EQ(json["bench"], "tune");
    EXPECT_EQ(json["unit"], "s");
    EXPECT_GE(json["samples"].size(), 1u);
    EXPECT_LE(json["interval"][0], json["median"]);
  }
  EXPECT_EQ(count, static_cast<int>(found.search.standings().size()));
}

TEST(Ranking, IsNotSureFromSingleRuns) {
  Found found;
  found.search = nigh::tune::Search(found.space.candidates, {.repetitions = 1});
  auto const text =
      ranking_text(found.with([](Request const& r) { return r.threads == 0 ? 2.0 : 1.0; }));
  EXPECT_THAT(text, HasSubstr("The best looks 2.00 times as good as the program as it is, from "
                              "single runs, which is not sure"));
  EXPECT_THAT(text, Not(HasSubstr("is sure to")));
}

TEST(Others, AreToldWhenTheyKeepCpusBusy) {
  OthersUse use;
  use.add(0.5, 1, 0.2);
  EXPECT_FALSE(use.cpus().has_value());  // too short to tell
  use.add(1.5, 2, 1.8);
  EXPECT_DOUBLE_EQ(use.cpus().value(), 0.5);
  use.add(2, 1, 3);  // the system counted less than the program did
  EXPECT_DOUBLE_EQ(use.cpus().value(), 0.25);
  EXPECT_TRUE(is_busy(0.25, 2));
  EXPECT_FALSE(is_busy(0.15, 2));
  EXPECT_FALSE(is_busy(0.4, 64));
  EXPECT_EQ(busy_text(1.26, 2), "others kept 1.3 of 2 cpus busy meanwhile");
  EXPECT_EQ(busy_text({}, 2), "");
}

Measurement measured(double low, double high, int runs) {
  Measurement m;
  m.words = {"./app", "--grid", "512"};
  m.binary = 0xabc;
  m.value = (low + high) / 2, m.low = low, m.high = high;
  m.runs = runs;
  m.is_sure = runs > 1;
  m.date = "2026-01-02T03:04:05Z";
  return m;
}

TEST(KeptProfile, SaysHowItWasMeasured) {
  auto m = measured(1, 2, 5);
  m.others_cpus = 0.5;
  m.cpus = 8;
  auto const text = with_measurement("{\"nigh_profile\": 1, \"threads\": 2}", m);
  EXPECT_EQ(measurement_in(text), m);
  EXPECT_FALSE(measurement_in("{\"nigh_profile\": 1}").has_value());
  EXPECT_FALSE(measurement_in("{\"nigh_profile\": 1, \"measured\": 7}").has_value());
  EXPECT_FALSE(measurement_in("no JSON").has_value());
  EXPECT_EQ(name_beside("a/nigh-profile.json", "new"), "a/nigh-profile.new.json");
  EXPECT_EQ(name_beside("profile", "old"), "profile.old");
}

TEST(KeptProfile, StaysWhenItWasMeasuredBetter) {
  using enum OldProfile::Fate;
  auto const fate = [](Measurement const& old, Measurement const& fresh) {
    return fate_of(old, fresh, true).fate;
  };
  EXPECT_EQ(fate(measured(1, 1.1, 5), measured(2, 2.1, 5)), kept);  // slower beyond the spread
  EXPECT_EQ(fate(measured(2, 2.1, 5), measured(1, 1.1, 3)), replaced);
  EXPECT_EQ(fate(measured(1, 1.2, 5), measured(1.1, 1.3, 5)), replaced);  // as good, and newer
  EXPECT_EQ(fate(measured(1, 1.2, 5), measured(0.9, 1.1, 3)), kept);      // from more runs
  EXPECT_EQ(fate(measured(2, 2.1, 5), measured(1, 1.1, 1)), kept);        // a single run
  EXPECT_EQ(fate(measured(1, 1.2, 1), measured(1, 1.2, 5)), replaced);
  auto more_is_better = measured(2, 2.1, 5), less = measured(1, 1.1, 5);
  more_is_better.is_maximized = less.is_maximized = true;
  EXPECT_EQ(fate(more_is_better, less), kept);
  EXPECT_EQ(fate(less, more_is_better), replaced);
}

TEST(KeptProfile, IsNotComparedWithOneOfAnotherLoad) {
  using enum OldProfile::Fate;
  auto const at_load = [](double others_cpus, double low, int runs) {
    auto m = measured(low, low + 0.1, runs);
    m.others_cpus = others_cpus;
    m.cpus = 8;
    return m;
  };
  auto const fate = [](Measurement const& old, Measurement const& fresh) {
    return fate_of(old, fresh, true).fate;
  };
  auto const quiet = at_load(0.1, 1, 5);
  EXPECT_EQ(fate(quiet, at_load(3, 1, 5)), kept);         // busy, and no better
  EXPECT_EQ(fate(quiet, at_load(3, 0.5, 5)), replaced);   // better beside others even
  EXPECT_EQ(fate(quiet, at_load(3, 0.5, 1)), kept);       // by chance, perhaps
  EXPECT_EQ(fate(at_load(0.1, 1, 1), at_load(3, 1, 5)), moved);
  EXPECT_EQ(fate(at_load(3, 2, 5), quiet), moved);        // the old may be better on a quiet machine
  EXPECT_EQ(fate(at_load(3, 0.5, 5), quiet), kept);       // it is, beside others even
  EXPECT_EQ(fate(at_load(3, 2, 5), at_load(0.1, 1, 1)), kept);
  EXPECT_EQ(fate(at_load(3, 2, 5), at_load(2.8, 1, 5)), replaced);  // as much load
  EXPECT_EQ(fate(measured(2, 2.1, 5), at_load(3, 1, 5)), replaced);  // nobody knows
  EXPECT_EQ(fate_of(quiet, at_load(3, 1, 5), true).why,
            "others kept 0.1 cpus busy while it was measured, and 3.0 now");
  auto counted = at_load(3, 1, 5), of_quiet = quiet;
  counted.metric = of_quiet.metric = "work ([0-9]+)";
  EXPECT_EQ(fate(of_quiet, counted), replaced);
}

TEST(KeptProfile, IsMovedWhenTheTwoCannotBeCompared) {
  using enum OldProfile::Fate;
  auto const m = measured(1, 1.1, 5);
  auto other = m;
  other.words = {"./app"};
  EXPECT_EQ(fate_of(other, m, true).fate, moved);
  other = m, other.binary = 1;
  EXPECT_EQ(fate_of(other, m, true).fate, moved);
  other = m, other.metric = "speed ([0-9]+)";
  EXPECT_EQ(fate_of(other, m, true).fate, moved);
  EXPECT_EQ(fate_of(m, m, false).fate, moved);
  EXPECT_EQ(fate_of({}, m, true).fate, moved);
}

}  // namespace
