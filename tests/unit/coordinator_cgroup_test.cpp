// SPDX-License-Identifier: Apache-2.0
// Quotas and cpusets from the system's files to a team.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"
#include "running_server.hpp"

namespace nigh::coordinator {
namespace {


class CoordinatorCgroup : public ::testing::Test {
 protected:
  void SetUp() override {
    write("proc/" + std::to_string(::getpid()) + "/cgroup", "0::/box");
    server.restart();
  }
  void write(std::filesystem::path const& file, std::string const& value) {
    auto const path = server.directory() / "system" / file;
    std::filesystem::create_directories(path.parent_path());
    auto const whole = path.string() + ".new";  // no reader sees half of it
    std::ofstream(whole) << value << '\n';
    std::filesystem::rename(whole, path);
  }
  void quota(std::string const& text) { write("sys/fs/cgroup/box/cpu.max", text); }
  void cpuset(std::string const& text) { write("sys/fs/cgroup/box/cpuset.cpus.effective", text); }
  // Regions begin again and again, until one has a team of this size; a test that hangs has failed.
  static void until_team_has(std::uint32_t size, LeaseClient& client) {
    for (;;) {
      auto const team = client.enter(1, all_cpus);
      client.leave(1000);
      if (team.size == size) return;
      ::usleep(1000);
    }
  }

  RunningServer server;
};

TEST_F(CoordinatorCgroup, AQuotaBoundsTheTeamFromTheFirstRegion) {
  quota("250000 100000");
  ClientConnection program;
  LeaseClient client(program);
  ASSERT_TRUE(program.join(server.options()));
  EXPECT_EQ(client.enter(1, all_cpus).size, 3u);
  client.leave(1000);
}

TEST_F(CoordinatorCgroup, AQuotaIsReadAgainWhileProgramsRun) {
  ClientConnection program;
  LeaseClient client(program);
  ASSERT_TRUE(program.join(server.options()));
  until_team_has(8, client);
  quota("200000 100000");
  until_team_has(2, client);
  quota("50000 100000");
  until_team_has(1, client);
  quota("often");  // counts for nothing, and what was known stays
  quota("400000 100000");
  until_team_has(4, client);
  quota("max 100000");
  until_team_has(8, client);
}

TEST_F(CoordinatorCgroup, TwoProgramsOfAGroupShareItsQuota) {
  quota("400000 100000");
  ClientConnection one, two;
  LeaseClient first(one), second(two);
  ASSERT_TRUE(one.join(server.options()));
  ASSERT_TRUE(two.join(server.options()));
  ASSERT_EQ(first.enter(1, {3, 3}).size, 3u);
  EXPECT_EQ(second.enter(1, all_cpus).size, 1u);
  second.leave(1000);
  first.leave(1000);
}

TEST_F(CoordinatorCgroup, ACpusetIsReadAgainWhileProgramsRun) {
  ClientConnection program;
  LeaseClient client(program);
  ASSERT_TRUE(program.join(server.options()));
  until_team_has(8, client);
  cpuset("2-4");
  until_team_has(3, client);
  cpuset("");  // emptied: the system says nothing
  cpuset("0-7");
  until_team_has(8, client);
}

// In the middle of a region: the cpus that are gone are asked back at once, not when others wait.
TEST_F(CoordinatorCgroup, ACpusetThatShrinksIsFollowedWhileARegionRuns) {
  ClientConnection program;
  LeaseClient client(program);
  ASSERT_TRUE(program.join(server.options()));
  ASSERT_EQ(client.enter(1, all_cpus).size, 8u);
  cpuset("2-4");
  while (query_status(server.socket())->host.revocations == 0) ::usleep(1000);
  client.leave(1000);
  until_team_has(3, client);
  auto const team = client.enter(1, all_cpus);
  ASSERT_EQ(team.size, 3u);
  client.leave(1000);
  auto const status = query_status(server.socket());
  ASSERT_TRUE(status);
  ASSERT_EQ(status->programs.size(), 1U);
  for (int cpu = 0; cpu < 8; ++cpu)
    EXPECT_TRUE(!status->programs[0].holds.has(cpu) || (2 <= cpu && cpu <= 4)) << cpu;
}

}  // namespace
}  // namespace nigh::coordinator
