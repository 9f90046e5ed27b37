// SPDX-License-Identifier: Apache-2.0
// Cpus that programs without a coordinator keep busy, from times that are made up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "coordinator/server/strangers.hpp"
#include "four_cpus.hpp"

namespace nigh::coordinator {
namespace {

TEST(Strangers, AreWhoKeepsFreeCpusBusy) {
  auto const machine = four_cpus();
  auto free = policy::PositionSet::all(4);
  Strangers strangers;
  EXPECT_EQ(strangers.compare(machine, free, {{0, 0}, {0, 0}, {0, 0}, {0, 0}}), std::nullopt);
  EXPECT_EQ(strangers.compare(machine, free, {{50, 0}, {30, 20}, {20, 30}, {0, 50}}), cpus({0, 1}));
  EXPECT_EQ(strangers.compare(machine, free, {{100, 0}, {60, 40}, {40, 60}, {0, 100}}),
            std::nullopt)
      << "the same as before";
  free.remove(machine.position(1));
  EXPECT_EQ(strangers.compare(machine, free, {{150, 0}, {110, 40}, {40, 110}, {0, 150}}), cpus({0}))
      << "who has a lease may work";
  free.add(machine.position(1));
  EXPECT_EQ(strangers.compare(machine, free, {{150, 50}, {160, 40}, {40, 160}, {0, 200}}), cpus({}))
      << "or had one at the last look";
}

TEST(Strangers, AreUnknownWhereTheSystemSaysNothing) {
  auto const machine = four_cpus();
  Strangers strangers;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(strangers.compare(machine, policy::PositionSet::all(4), {}), std::nullopt);
}

TEST(CpuTimes, AreReadFromProcStat) {
  auto const root =
      std::filesystem::temp_directory_path() / ("nigh-stat-" + std::to_string(::getpid()));
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
  std::filesystem::remove_all(root);
  EXPECT_TRUE(platform::cpu_times(root).empty());
}

}  // namespace
}  // namespace nigh::coordinator
