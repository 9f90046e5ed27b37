// SPDX-License-Identifier: Apache-2.0
// Cpus that programs without a coordinator keep busy, from times that are made up.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/server/external_load.hpp"
#include "four_cpus.hpp"
#include "temporary_folder.hpp"

namespace nigh::coordinator {
namespace {

constexpr auto nothing_known = ExternalLoad::unknown;

// The cpus seen busy, if anything has changed.
std::optional<CpuSet> changed(ExternalLoad& load, policy::CoreMap const& machine,
                              policy::PositionSet const& free,
                              std::vector<platform::CpuTimes> times,
                              ExternalLoad::Members members = {{7, nothing_known}}) {
  load.compare(machine, free, std::move(times), std::move(members));
  return load.has_changed() ? std::optional(load.busy()) : std::nullopt;
}

TEST(ExternalLoad, AreWhoKeepsFreeCpusBusy) {
  auto const machine = four_cpus();
  auto free = policy::PositionSet::all(4);
  ExternalLoad load;
  EXPECT_EQ(changed(load, machine, free, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}), std::nullopt);
  EXPECT_EQ(changed(load, machine, free, {{50, 0}, {30, 20}, {20, 30}, {0, 50}}), set_of({0, 1}));
  EXPECT_EQ(changed(load, machine, free, {{100, 0}, {60, 40}, {40, 60}, {0, 100}}), std::nullopt)
      << "the same as before";
  free.remove(machine.position(1));
  EXPECT_EQ(changed(load, machine, free, {{150, 0}, {110, 40}, {40, 110}, {0, 150}}), set_of({0}))
      << "who has a lease may work";
  free.add(machine.position(1));
  EXPECT_EQ(changed(load, machine, free, {{150, 50}, {160, 40}, {40, 160}, {0, 200}}), set_of({}))
      << "or had one at the last look";
}

TEST(ExternalLoad, AreUnknownWhereTheSystemSaysNothing) {
  auto const machine = four_cpus();
  ExternalLoad load;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(changed(load, machine, policy::PositionSet::all(4), {}), std::nullopt);
}

// Of four cpus that are all leased, ours have worked so many hundredths in a second.
struct AllLeased {
  policy::CoreMap machine = four_cpus();
  ExternalLoad load;
  std::int64_t second = 0, ours = 0;

  // Whether load are unseen after a second in which all cpus were busy.
  bool after(std::int64_t of_ours, int process = 7) {
    ++second;
    ours += of_ours;
    std::vector<platform::CpuTimes> const times(4, {100 * second, 0});
    load.compare(machine, policy::PositionSet(4), times, {{process, ours}});
    return load.is_unseen_elsewhere();
  }
};

TEST(ExternalLoad, OnLeasedCpusAreWhatOursHaveNotWorked) {
  AllLeased host;
  EXPECT_FALSE(host.after(0)) << "nothing to compare with";
  EXPECT_FALSE(host.after(400));
  EXPECT_FALSE(host.after(300)) << "one look may be wrong";
  EXPECT_TRUE(host.after(300));
  EXPECT_TRUE(host.after(380)) << "so may this one";
  EXPECT_TRUE(host.after(300));
  EXPECT_FALSE((host.after(360), host.after(390))) << "less than half a cpu is none";
  EXPECT_FALSE(host.after(0, 8)) << "another program: all that it has worked is its own";
  EXPECT_FALSE(host.after(nothing_known, 8));
}

// They were seen while their cpu was free, and are at once known to be there when it is not.
TEST(ExternalLoad, StayKnownWhenTheirCpuIsLeased) {
  auto const machine = four_cpus();
  ExternalLoad load;
  auto free = policy::PositionSet::all(4);
  load.compare(machine, free, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}, {{7, 0}});
  load.compare(machine, free, {{100, 0}, {0, 100}, {0, 100}, {0, 100}}, {{7, 0}});
  EXPECT_EQ(load.busy(), set_of({0}));
  EXPECT_FALSE(load.is_unseen_elsewhere()) << "it is seen";
  free.remove(machine.position(0));
  free.remove(machine.position(1));
  load.compare(machine, free, {{200, 0}, {100, 100}, {0, 200}, {0, 200}}, {{7, 100}});
  EXPECT_EQ(load.busy(), set_of({}));
  EXPECT_TRUE(load.is_unseen_elsewhere());
}

// A program of ours works on a free cpu between its regions.
TEST(ExternalLoad, AreNotOursBetweenRegions) {
  auto const machine = four_cpus();
  ExternalLoad load;
  auto const free = policy::PositionSet::all(4);
  load.compare(machine, free, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}, {{7, 0}});
  load.compare(machine, free, {{100, 0}, {0, 100}, {0, 100}, {0, 100}}, {{7, 98}});
  EXPECT_TRUE(load.busy().empty());
}

// External load that has ended while nobody looked is none for the next program.
TEST(ExternalLoad, OfLongAgoAreForgotten) {
  auto const machine = four_cpus();
  auto const free = policy::PositionSet::all(4);
  ExternalLoad load;
  load.compare(machine, free, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}, {});
  load.start_over(free, {{7, 0}}, {{900, 100}, {0, 1000}, {0, 1000}, {0, 1000}});
  EXPECT_TRUE(load.busy().empty());
  EXPECT_EQ(changed(load, machine, free, {{950, 100}, {0, 1050}, {0, 1050}, {0, 1050}}, {{7, 0}}),
            set_of({0}))
      << "but not one that goes on";
  load.start_over(free, {{8, 0}}, {{950, 900}, {0, 1900}, {0, 1900}, {0, 1900}});
  EXPECT_TRUE(load.busy().empty());
  EXPECT_TRUE(load.has_changed());
}

TEST(ExternalLoad, AreNoneOfOursThatHaveEndedMeanwhile) {
  auto const machine = four_cpus();
  auto const free = policy::PositionSet::all(4);
  std::vector<platform::CpuTimes> const before(4, {0, 0}), after(4, {90, 10});
  auto const busy_if = [&](std::int64_t counted, std::int64_t in_the_end, std::int64_t of_new) {
    ExternalLoad load;
    load.compare(machine, free, before, {{7, counted}});
    load.leave(7, in_the_end);
    return changed(load, machine, free, after, {{8, of_new}});
  };
  EXPECT_EQ(busy_if(100, 400, 50), std::nullopt);
  EXPECT_EQ(busy_if(100, 300, 50), set_of({0, 1, 2, 3}));
  EXPECT_EQ(busy_if(100, 300, 150), std::nullopt) << "what it worked before it came is its own";
  EXPECT_EQ(busy_if(100, nothing_known, 50), std::nullopt) << "nobody can tell";
}

TEST(CpuTimes, OfAProcessAreReadFromItsStat) {
  test::TemporaryFolder const folder;
  auto const& root = folder.path();
  std::filesystem::create_directories(root / "proc/12");
  std::filesystem::create_directories(root / "proc/13");
  std::ofstream(root / "proc/12/stat")
      << "12 (a ) name) S 1 2 3 4 5 6 7 8 9 10 40 2 0 0 20 0 1 0 99\n";
  std::ofstream(root / "proc/13/stat") << "13 (cut) S 1 2 3\n";
  EXPECT_EQ(platform::cpu_time_of(12, root), 42);
  EXPECT_EQ(platform::cpu_time_of(13, root), std::nullopt);
  EXPECT_EQ(platform::cpu_time_of(14, root), std::nullopt);
  EXPECT_EQ(platform::cpu_time_of(0, root), std::nullopt);
}

TEST(CpuTimes, AreReadFromProcStat) {
  test::TemporaryFolder const folder;
  auto const& root = folder.path();
  std::filesystem::create_directories(root / "proc");
  std::ofstream(root / "proc/stat") << "cpu  9 9 9 9 9 9 9 9 9 9\n"
                                       "cpu0 1 2 3 40 5 6 7 8 9 10\n"
                                       "cpu2 10 0 0 90 0 0 0 0 0 0\n"
                                       "cpu3 nonsense\n"
                                       "cpu99999999999 1 1 1 1 1\n"
                                       "intr 1 2 3\n";
  auto const times = platform::cpu_times(root);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0].busy, 6);
  EXPECT_EQ(times[0].idle, 45);
  EXPECT_EQ(times[1].busy + times[1].idle, 0) << "it is offline";
  EXPECT_EQ(times[2].idle, 90);
  EXPECT_TRUE(platform::cpu_times(root / "none").empty());
}

}  // namespace
}  // namespace nigh::coordinator
