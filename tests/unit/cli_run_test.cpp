// SPDX-License-Identifier: Apache-2.0
// The settings of `nigh run`: places, plans, profiles, for machines that are not this one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

#include "cli/run/coordination.hpp"
#include "cli/run/launch_plan.hpp"
#include "cli/run/plan.hpp"
#include "cli/run/profile.hpp"
#include "environment.hpp"
#include "synthetic.hpp"

namespace {

using nigh::tests::synthetic;
using namespace nigh::cli;
using nigh::topology;
using nigh::platform::MemoryPolicy;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

topology xml(std::string const& name) {
  return topology::from_xml(std::string(NIGH_TEST_DATA) + "/topology/" + name).value();
}

Request request(std::string const& bind, int threads = 0) {
  Request r;
  r.threads = threads;
  if (!bind.empty()) r.bind = parse_binding(bind).value();
  return r;
}

std::string refusal(topology const& t, Request const& r) {
  auto const plan = make_plan(t, r, empty_environment);
  return plan ? "accepted" : plan.message();
}

TEST(Places, AreReadInEveryNotation) {
  std::map<std::string, std::string> const all{
      {"0,2,1", "{0},{2},{1}"},
      {"4-7", "{4},{5},{6},{7}"},
      {"{0,1},{2-3}", "{0,1},{2,3}"},
      {"{0:2},{4:2:4}", "{0,1},{4,8}"},
      {"{0,1}:3:2", "{0,1},{2,3},{4,5}"},
      {"{0}:2", "{0},{1}"},
      {"{3},5", "{3},{5}"},
  };
  for (auto const& [text, means] : all) {
    auto const places = parse_places(text);
    ASSERT_TRUE(places.ok()) << text;
    EXPECT_EQ(to_string(std::span<Place const>(*places)), means) << text;
  }
}

TEST(Places, NonsenseIsRefused) {
  for (auto const* text : {"", ",", "0,", "a", "-1", "3-1", "{}", "{0", "{0}}", "{0},", "{0}:0",
                           "{0:0}", "{0}:2:0", "0:2", "1 2", "99999999", "{0}:", "{-1}"})
    EXPECT_FALSE(parse_places(text).ok()) << text;
}

TEST(Places, AreNotWithoutEnd) {
  EXPECT_FALSE(parse_places("{0}:65535,{0}:65535").ok());
  for (std::string const item : {"0-65535", "{0-65535}", "{0:65535}"}) {
    auto many = item;
    for (int i = 0; i < 8000; ++i) many += ',' + item;
    EXPECT_FALSE(parse_places(many).ok()) << item;
  }
  EXPECT_FALSE(parse_places("{65535}:3:2").ok());  // no cpu has such a number
  EXPECT_FALSE(parse_places("{1:2:65535}").ok());
}

TEST(Words, SayWhatIsWrongWithThem) {
  for (auto const* text : {"", "interleaved", "bind", "preferred", "bind:", "bind:x",
                           "preferred:0,1", "first-touch:0", "interleave:", "interleave:{0}"})
    EXPECT_FALSE(parse_memory(text).ok()) << text;
  for (auto const* text : {"", "static,", "static,0", "dynamic,-1", "local,4", "adaptive,2",
                           "guided,1x", "auto", "static,99999999999"})
    EXPECT_FALSE(parse_loops(text).ok()) << text;
  for (auto const* text : {"", "0", "-1", "two", "2 ", "99999999999"})
    EXPECT_FALSE(parse_threads(text).ok()) << text;
}

TEST(Words, ComeBackAsTheyWere) {
  for (auto const* text : {"first-touch", "interleave", "interleave:0,2", "bind:1", "preferred:3"})
    EXPECT_EQ(to_string(parse_memory(text).value()), text);
  for (auto const* text : {"static", "static,16", "dynamic,4", "guided", "adaptive", "local"})
    EXPECT_EQ(to_string(parse_loops(text).value()), text);
  for (auto const* text : {"compact", "scatter", "{0,1},{2}"})
    EXPECT_EQ(to_string(parse_binding(text).value()), text);
}

TEST(Plan, NothingAskedNothingSet) {
  auto const plan = make_plan(synthetic("pack:2 numa:1 core:2 pu:1"), {}, empty_environment).value();
  EXPECT_THAT(plan.variables, IsEmpty());
  EXPECT_THAT(plan.places, IsEmpty());
  EXPECT_THAT(plan.cpus, IsEmpty());
  EXPECT_FALSE(plan.memory.has_value());
}

TEST(Plan, EachThreadGetsAPlaceOfItsOwn) {
  auto const t = synthetic("pack:2 numa:1 core:2 pu:2");
  auto const plan = make_plan(t, request("scatter", 3), empty_environment).value();
  EXPECT_THAT(plan.variables,
              ElementsAre("OMP_NUM_THREADS=3", "OMP_PLACES={0},{4},{2}", "OMP_PROC_BIND=close",
                          "NIGH_WORKERS=3", "NIGH_CPUS=0,4,2", "NIGH_PLACES={0},{4},{2}"));
  EXPECT_THAT(plan.cpus, ElementsAre(0, 2, 4));
}

TEST(Plan, ThreadsAloneAreCompact) {
  auto const plan = make_plan(synthetic("pack:2 numa:1 core:2 pu:1"), request("", 3), empty_environment).value();
  EXPECT_THAT(plan.variables, Contains("OMP_PLACES={0},{1},{2}"));
}

TEST(Plan, AQuotaBoundsTheNumberThatNobodySaid) {
  auto const t = synthetic("pack:2 numa:1 core:2 pu:1");
  EXPECT_THAT(make_plan(t, request("compact"), empty_environment, 1.5).value().variables,
              Contains("OMP_NUM_THREADS=2"));
  EXPECT_THAT(make_plan(t, request("compact", 3), empty_environment, 1.5).value().variables,
              Contains("OMP_NUM_THREADS=3"));
  EXPECT_THAT(make_plan(t, request("0,1,2,3"), empty_environment, 1).value().variables,
              Contains("OMP_NUM_THREADS=4"));
  auto const told = environment({{"OMP_NUM_THREADS", "4"}});
  EXPECT_THAT(make_plan(t, request("compact"), told, 1).value().variables,
              Contains("OMP_NUM_THREADS=4"));
}

TEST(Plan, BindingAloneTakesAThreadForEachCore) {
  auto const t = synthetic("pack:2 numa:1 core:2 pu:2");
  EXPECT_THAT(make_plan(t, request("compact"), empty_environment).value().variables,
              Contains("OMP_PLACES={0},{2},{4},{6}"));
  auto const told = environment({{"OMP_NUM_THREADS", "2"}});
  EXPECT_THAT(make_plan(t, request("compact"), told).value().variables,
              Contains("OMP_PLACES={0},{2}"));
  for (auto const* beyond : {"4,2", "x"}) {
    auto const odd = environment({{"OMP_NUM_THREADS", beyond}});
    EXPECT_THAT(make_plan(t, request("compact"), odd).value().variables,
                Contains("OMP_NUM_THREADS=4"));
  }
}

TEST(Plan, NumberOfThreadsBeyondThePlacesIsKeptAndTold) {
  auto const t = synthetic("core:4 pu:1");
  for (auto const* beyond : {"9", "9,2"}) {
    auto const more = environment({{"OMP_NUM_THREADS", beyond}});
    auto const plan = make_plan(t, request("0,2"), more).value();
    EXPECT_THAT(plan.variables, AllOf(Contains(std::string("OMP_NUM_THREADS=") + beyond),
                                      Contains("OMP_PLACES={0},{2}"), Contains("NIGH_WORKERS=2")));
    EXPECT_THAT(plan.notes,
                ElementsAre(std::string("OMP_NUM_THREADS=") + beyond +
                            " is more than the 2 places of --bind: threads share them"));
    EXPECT_THAT(make_plan(t, request("compact"), more).value().variables,
                Contains("OMP_PLACES={0},{1},{2},{3}"));
    // A number of threads counts as given only where the user has written it.
    auto const told = make_plan(t, request("0,2", 2), more).value();
    EXPECT_THAT(told.variables, Contains("OMP_NUM_THREADS=2"));
    EXPECT_THAT(told.notes, IsEmpty());
  }
}

TEST(Plan, NamedPlacesAreTaken) {
  auto const t = synthetic("pack:2 numa:1 core:2 pu:2");
  auto const plan = make_plan(t, request("{2,3},{6}"), empty_environment).value();
  EXPECT_THAT(plan.variables, AllOf(Contains("OMP_NUM_THREADS=2"), Contains("NIGH_CPUS=2,6"),
                                    Contains("OMP_PLACES={2,3},{6}")));
  EXPECT_THAT(plan.cpus, ElementsAre(2, 3, 6));
  EXPECT_THAT(make_plan(t, request("5,4,1", 2), empty_environment).value().variables,
              Contains("OMP_PLACES={5},{4}"));
}

TEST(Plan, OwnBindingOfTheUserStaysUnlessBindIsGiven) {
  auto const t = synthetic("core:4 pu:1");
  auto const bound = environment({{"OMP_PROC_BIND", "spread"}, {"KMP_AFFINITY", "compact"}});
  auto const left = make_plan(t, request("", 2), bound).value();
  EXPECT_THAT(left.variables, ElementsAre("OMP_NUM_THREADS=2", "NIGH_WORKERS=2"));
  EXPECT_THAT(left.cpus, IsEmpty());
  EXPECT_THAT(left.notes, Not(IsEmpty()));
  auto const overruled = make_plan(t, request("compact", 2), bound).value();
  EXPECT_THAT(overruled.variables, Contains("OMP_PROC_BIND=close"));
  EXPECT_THAT(overruled.removed, ElementsAre("KMP_AFFINITY"));
}

TEST(Plan, EmptyVariablesBindNothing) {
  auto const t = synthetic("core:4 pu:1");
  auto const empty = environment({{"OMP_PLACES", ""}, {"OMP_PROC_BIND", ""}});
  EXPECT_THAT(make_plan(t, request("", 2), empty).value().variables, Contains("OMP_PLACES={0},{1}"));
  EXPECT_EQ(binding_in(empty), std::nullopt);
}

TEST(Plan, WordsOfKmpAffinityThatBindNothing) {
  for (char const* const word : {"none", "verbose,none", "disabled", ""})
    EXPECT_EQ(binding_in(environment({{"KMP_AFFINITY", word}})), std::nullopt) << word;
  for (char const* const word : {"compact", "verbose,scatter", "granularity=fine,proclist=[0,1]"})
    EXPECT_EQ(binding_in(environment({{"KMP_AFFINITY", word}})), "KMP_AFFINITY") << word;
}

TEST(Plan, RespectsTheCpusItWasGiven) {
  constexpr std::array keep{1, 6, 7};
  auto const t = synthetic("pack:2 numa:1 core:4 pu:1").restricted_to(keep).value();
  EXPECT_THAT(make_plan(t, request("scatter"), empty_environment).value().variables,
              Contains("OMP_PLACES={1},{6},{7}"));
  EXPECT_EQ(refusal(t, request("", 4)), "--threads 4: only 3 cpus are allowed (1,6-7)");
  EXPECT_EQ(refusal(t, request("0,1")), "--bind: cpu 0 is not among the allowed cpus 1,6-7");
}

TEST(Plan, RefusesPlacesThatCannotBe) {
  auto const t = synthetic("core:4 pu:1");
  EXPECT_EQ(refusal(t, request("0,1,0")), "--bind: cpu 0 is named twice");
  EXPECT_EQ(refusal(t, request("0,1", 3)), "--threads 3: --bind names only 2 places");
  EXPECT_EQ(refusal(t, request("0,77")), "--bind: cpu 77 is not among the allowed cpus 0-3");
}

Request memory(std::string const& text) {
  Request r;
  r.memory = parse_memory(text).value();
  return r;
}

TEST(Plan, MemoryPoliciesNameNodes) {
  auto const t = xml("sparse_nodes.xml");
  auto const all = make_plan(t, memory("interleave"), empty_environment).value().memory.value();
  EXPECT_EQ(all.kind, MemoryPolicy::Kind::interleave);
  ASSERT_EQ(all.os_nodes.size(), t.domains().size());
  for (auto const& d : t.domains()) EXPECT_THAT(all.os_nodes, Contains(d.os_node));
  auto const last = static_cast<int>(t.domains().size()) - 1;
  EXPECT_THAT(make_plan(t, memory("bind:" + std::to_string(last)), empty_environment).value().memory->os_nodes,
              ElementsAre(t.domains().back().os_node));
  EXPECT_THAT(make_plan(t, memory("first-touch"), empty_environment).value().memory->os_nodes, IsEmpty());
}

TEST(Plan, MemoryOnlyDomainsAreInterleavedOnlyWhenNamed) {
  auto const t = xml("memory_only.xml");
  auto const bare = t.domains().back();
  ASSERT_THAT(bare.cpus, IsEmpty());
  EXPECT_THAT(make_plan(t, memory("interleave"), empty_environment).value().memory->os_nodes,
              Not(Contains(bare.os_node)));
  auto const named = memory("interleave:0," + std::to_string(bare.index));
  EXPECT_THAT(make_plan(t, named, empty_environment).value().memory->os_nodes, Contains(bare.os_node));
  EXPECT_THAT(make_plan(t, memory("preferred:" + std::to_string(bare.index)), empty_environment)
                  .value()
                  .memory->os_nodes,
              ElementsAre(bare.os_node));
}

TEST(Plan, AbsentAndEmptyDomainsAreRefused) {
  EXPECT_THAT(refusal(synthetic("pack:2 numa:1 core:2 pu:1"), memory("bind:2")),
              StartsWith("--mem bind:2: there is no domain 2"));
  auto const t = xml("memoryless_node.xml");
  int without = -1;
  for (auto const& d : t.domains())
    if (d.os_node < 0) without = d.index;
  ASSERT_GE(without, 0);
  EXPECT_THAT(refusal(t, memory("bind:" + std::to_string(without))),
              HasSubstr("has no memory of its own"));
}

TEST(Plan, SchedulesOfBothKindsOfLoops) {
  Request r;
  r.schedule = parse_loops("guided,8").value();
  auto const t = synthetic("core:2 pu:1");
  EXPECT_THAT(make_plan(t, r, empty_environment).value().variables,
              ElementsAre("NIGH_SCHEDULE=guided,8", "OMP_SCHEDULE=guided,8"));
  r.schedule = parse_loops("local").value();
  auto const local = make_plan(t, r, empty_environment).value();
  EXPECT_THAT(local.variables, ElementsAre("NIGH_SCHEDULE=local"));
  EXPECT_THAT(local.notes, Not(IsEmpty()));
}

TEST(ShellLines, CanBePasted) {
  auto const t = synthetic("pack:2 numa:1 core:2 pu:1");
  Request r = request("scatter", 2);
  r.memory = parse_memory("interleave").value();
  auto const plan = make_plan(t, r, empty_environment).value();
  EXPECT_EQ(as_shell_lines(plan, {}, {"./app", "it's", "a=b"}),
            "taskset -c 0,2 \\\n  numactl --interleave=0-1 \\\n  env \\\n  OMP_NUM_THREADS=2 \\\n"
            "  'OMP_PLACES={0},{2}' \\\n  OMP_PROC_BIND=close \\\n  NIGH_WORKERS=2 \\\n"
            "  NIGH_CPUS=0,2 \\\n  'NIGH_PLACES={0},{2}' \\\n  ./app 'it'\\''s' a=b\n");
  EXPECT_EQ(as_shell_lines({}, {}, {"true"}), "true\n");
}

TEST(Profile, ComesBackAsItWas) {
  auto const shape = shape_of(synthetic("pack:2 numa:2 l3:1 core:2 pu:2"));
  EXPECT_EQ(shape.levels, "package:2 domain:4 l3:4 core:8 cpu:16");
  Request r = request("scatter", 3);
  r.memory = parse_memory("interleave:0,1").value();
  r.schedule = parse_loops("dynamic,16").value();
  EXPECT_EQ(parse_profile(profile_json(r, shape), shape, false).value(), r);
  EXPECT_EQ(parse_profile(profile_json({}, shape), shape, false).value(), Request{});
  for (std::string const places : {"{0:65535}", "{0:7}:8192:7", "{1:531}:64:2"}) {
    r.bind = parse_binding(places).value();
    EXPECT_EQ(parse_profile(profile_json(r, shape), shape, false).value(), r) << places;
  }
}

TEST(Profile, OfAnotherMachineIsRefusedUnlessForced) {
  auto const there = shape_of(synthetic("pack:2 numa:1 core:4 pu:1"));
  auto const text = profile_json(request("compact", 2), there);
  auto const refused = [&](std::string const& here) {
    return parse_profile(text, shape_of(synthetic(here)), false).message();
  };
  EXPECT_THAT(refused("pack:2 numa:1 core:2 pu:1"),
              HasSubstr("it is of a machine with 8 cpus, this one has 4"));
  EXPECT_THAT(refused("pack:4 numa:1 core:2 pu:1"),
              HasSubstr("it is of a machine with 2 domains, this one has 4"));
  EXPECT_THAT(refused("pack:2 numa:1 core:2 pu:2"), HasSubstr("core:8 cpu:8, this one is"));
  EXPECT_EQ(parse_profile(text, shape_of(synthetic("core:2 pu:1")), true).value().threads, 2);
}

TEST(Profile, CpusThatAreNotAllowedStillBelongToTheMachine) {
  auto const t = synthetic("pack:2 numa:1 core:4 pu:1");
  constexpr std::array keep{1};
  EXPECT_EQ(shape_of(t), shape_of(t.restricted_to(keep).value()));
}

TEST(Profile, NonsenseIsNamed) {
  auto const shape = shape_of(synthetic("core:2 pu:1"));
  auto const why = [&](std::string const& text) {
    auto const read = parse_profile(text, shape, true);
    return read ? "accepted" : read.message();
  };
  EXPECT_EQ(why(""), "is cut or damaged: no JSON");
  std::string const open(30'000, '['), close(30'000, ']');
  EXPECT_EQ(why("{\"nigh_profile\":" + open + close + '}'), "is nested deeper than 8 levels");
  EXPECT_EQ(why(std::string(1'100'000, ' ')), "is larger than 1048576 bytes");
  EXPECT_EQ(why("[1]"), "is no profile of nigh tune");
  EXPECT_EQ(why("{}"), "is no profile of nigh tune");
  EXPECT_THAT(why(R"({"nigh_profile": 2})"), HasSubstr("format 2"));
  EXPECT_THAT(why(R"({"nigh_profile": 1, "threads": 0})"), StartsWith("threads:"));
  EXPECT_EQ(why(R"({"nigh_profile": 1, "threds": 1})"), "has \"threds\", which is no part of a profile");
  for (auto const* const number : {"-1", "1.5", "1e300"})
    EXPECT_EQ(why(std::string(R"({"nigh_profile": 1, "threads": )") + number + '}'),
              "threads: it is neither text nor a whole number from 0");
  EXPECT_THAT(why(R"({"nigh_profile": 1, "bind": ["a"]})"), StartsWith("bind:"));
  EXPECT_THAT(why(R"({"nigh_profile": 1, "mem": "x"})"), StartsWith("mem:"));
  EXPECT_THAT(why(R"({"nigh_profile": 1, "schedule": "static,0"})"), StartsWith("schedule:"));
}

}  // namespace
