// SPDX-License-Identifier: Apache-2.0
// Where ranks are, which cpus they take, and whether they fit together.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "cluster/functions.hpp"
#include "cluster/layout.hpp"
#include "cluster/mpi/launcher.hpp"
#include "cluster/task_queues.hpp"

namespace {

using namespace nigh::cluster;
using nigh::level;
namespace policy = nigh::policy;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Layout ranks(int self, std::vector<Place> places) { return {self, std::move(places)}; }

TEST(Layout, SharesOutCpusAmongRanksThatWereGivenTheSame) {
  Place const all{"a", "kernel", -1, {0, 2, 1, 3, 4}};
  EXPECT_THAT(share_of_cpus(ranks(0, {all})), ElementsAre(0, 2, 1, 3, 4));
  EXPECT_THAT(share_of_cpus(ranks(0, {all, all})), ElementsAre(0, 2));
  EXPECT_THAT(share_of_cpus(ranks(1, {all, all})), ElementsAre(1, 3, 4));
  Place const other_name{"b", "kernel", -1, {0, 2, 1, 3, 4}};
  EXPECT_THAT(share_of_cpus(ranks(1, {other_name, all})), ElementsAre(1, 3, 4)) << "one machine";
  Place const elsewhere{"a", "another kernel", -1, {0, 2, 1, 3, 4}};
  EXPECT_THAT(share_of_cpus(ranks(1, {elsewhere, all})), ElementsAre(0, 2, 1, 3, 4));
}

TEST(Layout, LeavesAloneWhatALauncherHasBound) {
  EXPECT_THAT(share_of_cpus(ranks(1, {{"a", "k", 0, {0, 1}}, {"a", "k", 0, {2, 3}}})),
              ElementsAre(2, 3));
}

TEST(Layout, GivesOneCpuToEachOfTooManyRanks) {
  Place const two{"a", "k", 0, {0, 1}};
  std::vector<Place> const five(5, two);
  EXPECT_THAT(share_of_cpus(ranks(3, five)), ElementsAre(1));
  EXPECT_THAT(share_of_cpus(ranks(4, five)), ElementsAre(0));
}

TEST(Layout, TellsOfMoreWorkersThanCpus) {
  Place const two{"a", "k", 0, {0, 1}};
  EXPECT_EQ(crowd_in(ranks(0, {two, two})), "") << "a cpu for each";
  EXPECT_EQ(crowd_in(ranks(1, {two, two, two})),
            "3 workers of 3 ranks on 2 cpus of a: they take turns");
  auto busy = two;
  busy.workers = 2;
  EXPECT_EQ(crowd_in(ranks(0, {busy})), "");
  EXPECT_EQ(crowd_in(ranks(0, {busy, two})),
            "3 workers of 2 ranks on 2 cpus of a: they take turns");
  Place const elsewhere{"b", "l", 0, {0, 1}};
  EXPECT_EQ(crowd_in(ranks(0, {two, elsewhere, elsewhere, two})), "");
  busy = elsewhere;
  busy.workers = 3;
  EXPECT_EQ(crowd_in(ranks(0, {two, busy})), "3 workers of 1 rank on 2 cpus of b: they take turns");
}

TEST(Layout, AsksTheDomainFirstThenTheHostThenTheCluster) {
  auto const plan = plan_among_ranks(
      ranks(0, {{"a", "k", 0, {0}}, {"b", "l", 0, {0}}, {"a", "k", 1, {1}}, {"a", "k", 0, {2}}}));
  ASSERT_EQ(plan.levels.size(), 3u);
  EXPECT_EQ(plan.levels[0].level, level::domain);
  EXPECT_THAT(plan.levels[0].victims, ElementsAre(3));
  EXPECT_EQ(plan.levels[1].level, level::host);
  EXPECT_THAT(plan.levels[1].victims, ElementsAre(2));
  EXPECT_EQ(plan.levels[2].level, level::cluster);
  EXPECT_THAT(plan.levels[2].victims, ElementsAre(1));
  EXPECT_EQ(plan.topmost, level::cluster);
}

std::vector<std::vector<int>> victims_of(policy::VictimPlan const& plan) {
  std::vector<std::vector<int>> all;
  for (auto const& l : plan.levels) all.push_back(l.victims);
  return all;
}

TEST(Layout, AsksItsSwitchBeforeTheOthers) {
  auto layout = ranks(1, {{"a", "k", 0, {0}, "left"},
                          {"b", "l", 0, {0}, "right"},
                          {"b", "l", 1, {1}, "right"},
                          {"c", "m", 0, {0}},
                          {"d", "n", 0, {0}, "right"}});
  auto const plan = plan_among_ranks(layout);
  EXPECT_THAT(victims_of(plan), ElementsAre(ElementsAre(2), ElementsAre(4), ElementsAre(3, 0)));
  EXPECT_EQ(plan.levels[1].level, level::cluster);
  EXPECT_EQ(plan.topmost, level::cluster);
  layout.self = 3;
  EXPECT_THAT(victims_of(plan_among_ranks(layout)), ElementsAre(ElementsAre(4, 0, 1, 2)))
      << "hosts without a known switch share none";
}

TEST(Switches, AreWhatSlurmTells) {
  EXPECT_EQ(switch_from_slurm("core.rack7.n12", "switch.switch.node"), "rack7");
  EXPECT_EQ(switch_from_slurm("rack7.n12", "switch.node"), "rack7");
  EXPECT_EQ(switch_from_slurm("n12", "node"), "") << "without a topology";
  EXPECT_EQ(switch_from_slurm(nullptr, "switch.node"), "");
  EXPECT_EQ(switch_from_slurm("rack7.n12", nullptr), "");
  EXPECT_EQ(switch_from_slurm("rack7.n12", "switch.switch.node"), "");
  EXPECT_EQ(switch_from_slurm("", ""), "");
}

TEST(Switches, AreWhatAFileSays) {
  auto layout = ranks(
      0, {{"n1", "k", 0, {0}, "old"}, {"n2.site.org", "l", 0, {0}}, {"n3", "", 0, {}, "old"}});
  ASSERT_TRUE(take_switches(layout, "# host switch\n\nn2\t right # beside n1\n  n1 left\nn9 left"));
  EXPECT_EQ(layout.places[0].switch_name, "left");
  EXPECT_EQ(layout.places[1].switch_name, "right") << "the file has no domain";
  EXPECT_EQ(layout.places[2].switch_name, "") << "the file goes before the launcher";

  EXPECT_EQ(take_switches(layout, "n1 left\nn2\n").message(),
            "line 2 is not a host's name and its switch's");
  EXPECT_EQ(take_switches(layout, "n1 is left\n").message(),
            "line 1 is not a host's name and its switch's");
  EXPECT_EQ(take_switches(layout, "n1 left\n\nn1 left\n").message(), "line 3 names n1 again");
  EXPECT_EQ(layout.places[0].switch_name, "left") << "as before";
}

// Two ranks that say what a script says.
class Two final : public Transport {
 public:
  struct Said {};  // thrown by gather() when there was no hello yet: it has been taken

  explicit Two(bytes& hello) : hello_(hello) {}
  int rank() const noexcept override { return 0; }
  int ranks() const noexcept override { return 2; }
  std::string name() const override { return "a script"; }
  bool is_funneled() const noexcept override { return false; }
  void send(int, byte_view) override {}
  Arrived receive() override { return {}; }
  std::vector<bytes> gather(byte_view mine) override {
    bytes own(mine.begin(), mine.end());
    if (hello_.empty()) {
      hello_ = own;
      throw Said{};
    }
    return {own, hello_};
  }
  void finish() override {}

 private:
  bytes& hello_;
};

class Meeting : public testing::Test {
 public:
  // The place that another rank would report.
  void other_says(Settings const& settings, std::string const& functions) {
    hello.clear();
    Two network(hello);
    EXPECT_THROW(static_cast<void>(meet(network, {"b", "l", 0, {0}}, settings, functions)),
                 Two::Said);
  }
  Layout meet_it(Settings const& settings, std::string const& functions) {
    Two network(hello);
    return meet(network, {"a", "k", 0, {0}}, settings, functions);
  }
  bytes hello;
};
using MeetingDeathTest = Meeting;

TEST_F(MeetingDeathTest, EndsRanksThatDoNotFitTogether) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Settings options, other;
  other_says(options, "f(int)\n");
  static_cast<void>(meet_it(options, "f(int)\n"));
  EXPECT_EXIT(static_cast<void>(meet_it(options, "f(int)\ng()\n")), testing::ExitedWithCode(2),
              "^nigh: the ranks run different programs: rank 1 on b does not know the task "
              "function g\\(\\) of rank 0 on a\n$");
  EXPECT_EXIT(static_cast<void>(meet_it(options, "a()\n")), testing::ExitedWithCode(2),
              "rank 1 on b does not know");
  EXPECT_EXIT(
      static_cast<void>(meet_it(options, "f(int)\nsome tasks are spawned free\n")),
      testing::ExitedWithCode(2),
      "^nigh: the ranks run different programs: on rank 0 on a some tasks are spawned free, "
      "on rank 1 on b none are\n$");
  other.options.chunks = nigh::chunk_choice::half;
  EXPECT_EXIT(static_cast<void>(meet_it(other, "f(int)\n")), testing::ExitedWithCode(2),
              "^nigh: on rank 0 on a chunks are half, on rank 1 on b chunks are hierarchical\n$");
  other = {};
  other.options.fixed_chunk = 4;
  EXPECT_EXIT(static_cast<void>(meet_it(other, "f(int)\n")), testing::ExitedWithCode(2),
              "chunks are hierarchical,4, on rank 1 on b chunks are hierarchical\n$");
  other = {};
  other.options.shared_window = false;
  EXPECT_EXIT(static_cast<void>(meet_it(other, "f(int)\n")), testing::ExitedWithCode(2),
              "shared_window is off, on rank 1 on b shared_window is on\n$");
  other = {};
  other.options.supervised = true;
  EXPECT_EXIT(static_cast<void>(meet_it(other, "f(int)\n")), testing::ExitedWithCode(2),
              "tasks are supervised, on rank 1 on b tasks are not supervised\n$");
}

TEST_F(MeetingDeathTest, TellsEverybodyTheSwitchesThatRankZeroReads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Settings settings;
  other_says(settings, "f(int)\n");
  settings.options.switches = "switches.txt";
  settings.switches = "a left\nb left\n";
  EXPECT_EQ(meet_it(settings, "f(int)\n").places[1].switch_name, "left");
  settings.switches = "a left\nb is left\n";
  EXPECT_EXIT(static_cast<void>(meet_it(settings, "f(int)\n")), testing::ExitedWithCode(2),
              "^nigh: switches.txt: line 2 is not a host's name and its switch's\n$");
  Settings impossible;
  impossible.complaint = "cannot";
  other_says(impossible, "f(int)\n");
  EXPECT_EXIT(static_cast<void>(meet_it(settings, "f(int)\n")), testing::ExitedWithCode(2),
              "^nigh: on rank 1 on b: cannot\n$");
}

TEST(Settings, ReadTheFileOfSwitchesOnRankZero) {
  auto const path = testing::TempDir() + "nigh_switches";
  std::ofstream(path) << "a left\n";
  session_options options;
  options.switches = path;
  EXPECT_EQ(settings_from_environment(options, 0).switches, "a left\n");
  EXPECT_EQ(settings_from_environment(options, 1).switches, "");
  ASSERT_EQ(::setenv("NIGH_SWITCHES", "/nowhere/to/be/found", 1), 0);
  EXPECT_EQ(settings_from_environment(options, 0).complaint,
            "cannot read switches from /nowhere/to/be/found");
  EXPECT_EQ(settings_from_environment(options, 1).complaint, "");
  ASSERT_EQ(::setenv("NIGH_SWITCHES", path.c_str(), 1), 0);
  std::ofstream(path) << "";
  EXPECT_EQ(settings_from_environment({}, 0).complaint, "no switches in " + path + ", which is empty");
  std::filesystem::resize_file(path, (16U << 20) + 1);
  EXPECT_EQ(settings_from_environment({}, 0).complaint,
            "no switches in " + path + ", which is larger than 16 MiB");
  ASSERT_EQ(::setenv("NIGH_SWITCHES", "/", 1), 0);
  EXPECT_EQ(settings_from_environment({}, 0).complaint, "cannot read switches from /");
  ::unsetenv("NIGH_SWITCHES");
}

TEST(Settings, ChooseByWords) {
  session_options o;
  EXPECT_TRUE(set_victims(o, "ring"));
  EXPECT_EQ(victims_of(o), "ring");
  EXPECT_TRUE(set_victims(o, "lifelines"));
  EXPECT_TRUE(o.lifelines);
  EXPECT_EQ(victims_of(o), "lifelines");
  EXPECT_TRUE(set_victims(o, "ring"));
  EXPECT_FALSE(o.lifelines);
  EXPECT_FALSE(set_victims(o, "rings"));
  EXPECT_FALSE(set_victims(o, ""));
  EXPECT_EQ(o.victims, nigh::victim_choice::ring);
  for (char const* words : {"one", "half", "hierarchical", "fixed,4", "hierarchical,32"}) {
    EXPECT_TRUE(set_chunks(o, words));
    EXPECT_EQ(chunks_of(o), words);
  }
  EXPECT_EQ(o.fixed_chunk, 32u);
  for (char const* words : {"", "few", "fixed", "fixed,", "fixed,0", "fixed,33", "fixed,-1",
                            "half,2", "one,2", "fixed,4,4", "fixed,4 ", "hierarchical,"})
    EXPECT_FALSE(set_chunks(o, words)) << words;
  EXPECT_EQ(chunks_of(o), "hierarchical,32") << "as before";
  EXPECT_TRUE(set_chunks(o, "one"));
  EXPECT_EQ(o.fixed_chunk, 1u);
}

TEST(Settings, OfTheEnvironmentGoBeforeTheProgram) {
  ASSERT_EQ(::setenv("NIGH_CLUSTER_VICTIMS", "random", 1), 0);
  ASSERT_EQ(::setenv("NIGH_CLUSTER_CHUNKS", "fixed,3", 1), 0);
  auto const told = settings_from_environment({.victims = nigh::victim_choice::ring}, 1);
  EXPECT_EQ(told.complaint, "");
  EXPECT_EQ(victims_of(told.options), "random");
  EXPECT_EQ(chunks_of(told.options), "fixed,3");
  ASSERT_EQ(::setenv("NIGH_CLUSTER_VICTIMS", "nearest", 1), 0);
  EXPECT_EQ(settings_from_environment({}, 1).complaint,
            "NIGH_CLUSTER_VICTIMS='nearest' is not random, ring, hierarchical or lifelines");
  ::unsetenv("NIGH_CLUSTER_VICTIMS");
  ::unsetenv("NIGH_CLUSTER_CHUNKS");
  ASSERT_EQ(::setenv("NIGH_CLUSTER_SPARES", "2", 1), 0);
  EXPECT_EQ(settings_from_environment({}, 1).options.spares, 2);
  for (auto const* text : {"", "-1", "2 of 4", "99999999999"}) {
    ASSERT_EQ(::setenv("NIGH_CLUSTER_SPARES", text, 1), 0);
    EXPECT_EQ(settings_from_environment({}, 1).complaint,
              "NIGH_CLUSTER_SPARES='" + std::string(text) + "' is not a number of ranks");
  }
  ::unsetenv("NIGH_CLUSTER_SPARES");
  EXPECT_EQ(settings_from_environment({.spares = -1}, 1).complaint,
            "session_options::spares is -1, not a number of ranks");
  EXPECT_THAT(settings_from_environment({.fixed_chunk = 0}, 1).complaint,
              HasSubstr("fixed_chunk is 0"));
  EXPECT_EQ(settings_from_environment({.queue_capacity = 0}, 1).complaint,
            "session_options::queue_capacity is 0, not a number of tasks");
}

TEST(Settings, HaveThoseOfWorkersInThem) {
  ASSERT_EQ(::setenv("NIGH_WORKERS", "3", 1), 0);
  EXPECT_EQ(settings_from_environment({}, 1).options.workers.workers, 3);
  ASSERT_EQ(::setenv("NIGH_WORKERS", "few", 1), 0);
  EXPECT_EQ(settings_from_environment({}, 1).complaint,
            "NIGH_WORKERS='few' is not a number of workers from 1 to 1024");
  ::unsetenv("NIGH_WORKERS");
}

TEST(Functions, NameTheFirstThatOneOfTwoListsLacks) {
  EXPECT_THAT(first_difference("a\nb\n", "a\nb\n").name, IsEmpty());
  EXPECT_EQ(first_difference("a\nb\n", "a\n").name, "b");
  EXPECT_TRUE(first_difference("a\nb\n", "a\n").in_first);
  EXPECT_EQ(first_difference("a\nc\n", "a\nb\nc\n").name, "b");
  EXPECT_FALSE(first_difference("a\nc\n", "a\nb\nc\n").in_first);
}

TEST(Functions, AreOthersWhenWhatTheyTakeOrReturnHasAnotherSize) {
  auto const one = first_difference("a 8 0\nb 4 4\n", "a 8 0\nb 4 8\n");
  EXPECT_EQ(one.name, "b");
  EXPECT_TRUE(one.only_in_size);
  EXPECT_FALSE(first_difference("a 8 0\nb 4 4\n", "a 8 0\nc 4 4\n").only_in_size);
}

int task_function(long) { return 0; }

TEST(Functions, SayTheirSizesAndWhetherTheyAreSpawnedFree) {
  auto& f = detail::function_of<&task_function>();
  EXPECT_EQ(program_of({&f}, false), std::string(f.type->name()) + " 8 4\n");
  EXPECT_EQ(program_of({}, true), "some tasks are spawned free\n");
}

TEST(Functions, HaveNamesForPeople) {
  EXPECT_THAT(readable_name(detail::function_of<&task_function>()), HasSubstr("task_function"));
}

std::string launcher(std::map<std::string, char const*> const& environment,
                     std::string_view mpi = "Open MPI v4.1.4") {
  auto const get = [&](char const* name) -> char const* {
    auto const at = environment.find(name);
    return at != environment.end() ? at->second : nullptr;
  };
  return mpi::launcher_of_others(get, mpi);
}

TEST(Launcher, IsKnownByWhatItLeavesInTheEnvironment) {
  EXPECT_THAT(launcher({}), IsEmpty());
  EXPECT_THAT(launcher({{"PMI_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "1"}}), IsEmpty());
  EXPECT_THAT(launcher({{"PMI_SIZE", "4"}}), HasSubstr("hydra"));
  EXPECT_THAT(launcher({{"OMPI_COMM_WORLD_SIZE", "2"}}), HasSubstr("Open MPI's mpirun"));
  EXPECT_THAT(launcher({{"SLURM_STEP_NUM_TASKS", "3"}}), HasSubstr("--mpi=pmix"));
  EXPECT_THAT(launcher({{"SLURM_STEP_NUM_TASKS", "3"}}, "MPICH 4.0.2"), HasSubstr("--mpi=pmi2"));
}

TEST(Inbox, GivesTheOldestThatMayLeave) {
  Inbox inbox;
  for (std::uint32_t i = 0; i < 5; ++i)
    inbox.put({std::make_unique<Task>(Task{i, 0, 0, i == 0, {}}), {}});
  std::vector<std::uint32_t> given;
  auto const two = [](std::size_t waiting) { return waiting / 2; };
  EXPECT_EQ(inbox.give(two, [&](Task const& t) { given.push_back(t.function); }), 2u);
  EXPECT_THAT(given, ElementsAre(1, 2));
  Inbox::Item item;
  ASSERT_TRUE(inbox.take(item));
  EXPECT_EQ(item.task->function, 0u);
  EXPECT_FALSE(inbox.surely_empty());
}

TEST(Inbox, KnowsTheTasksOfLostRanks) {
  Inbox inbox;
  Task again{2, 0, 0, false, {}, 0, 0, true};
  inbox.put({std::make_unique<Task>(Task{0, 0, 0, false, {}}), {}});
  EXPECT_FALSE(inbox.has_urgent());
  inbox.put({std::make_unique<Task>(again), {}});
  inbox.put({std::make_unique<Task>(again), {}});
  EXPECT_TRUE(inbox.has_urgent());
  Inbox::Item item;
  ASSERT_TRUE(inbox.take_urgent(item));
  EXPECT_EQ(item.task->function, 2u);
  EXPECT_TRUE(inbox.has_urgent());
  for (std::uint32_t const next : {0u, 2u}) {
    ASSERT_TRUE(inbox.take(item));
    EXPECT_EQ(item.task->function, next);
  }
  EXPECT_FALSE(inbox.take_urgent(item));
  EXPECT_FALSE(inbox.has_urgent());
  EXPECT_TRUE(inbox.surely_empty());
}

}  // namespace
