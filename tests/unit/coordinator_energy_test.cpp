// SPDX-License-Identifier: Apache-2.0
// Energy from the system's files to a status.
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

class CoordinatorEnergy : public ::testing::Test {
 protected:
  void write(std::filesystem::path const& file, std::string const& value) {
    auto const path = server.directory() / "system/sys" / file;
    std::filesystem::create_directories(path.parent_path());
    auto const whole = path.string() + ".new";  // no reader sees half of it
    std::ofstream(whole) << value << '\n';
    std::filesystem::rename(whole, path);
  }
  HostStatus status() {
    auto const s = query_status(server.socket());
    EXPECT_TRUE(s) << s.message();
    return s ? *s : HostStatus{};
  }
  // Looks again and again, as often as it takes; a test that hangs has failed.
  template <class Condition>
  static void until(Condition condition) {
    while (!condition()) ::usleep(1000);
  }

  RunningServer server;
};

TEST_F(CoordinatorEnergy, IsUnknownWhereItIsUnreadable) {
  EXPECT_EQ(status().host.measures_energy, 0);
}

TEST_F(CoordinatorEnergy, IsToldInTotalAndByProgram) {
  for (int cpu = 0; cpu < 8; ++cpu)
    write("devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id", "0");
  write("class/powercap/intel-rapl:0/name", "package-0");
  write("class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850");
  write("class/powercap/intel-rapl:0/energy_uj", "1000000");
  server.restart();
  EXPECT_EQ(status().host.measures_energy, 1);

  ClientConnection program;
  LeaseClient client(program);
  ASSERT_TRUE(program.join(server.options()));
  ASSERT_EQ(client.enter(1, {64, 64}).size, 8);
  write("class/powercap/intel-rapl:0/energy_uj", "9000000");
  until([&] { return status().host.energy_uj == 8'000'000; });
  auto const used = status().programs.at(0).used_uj;
  EXPECT_GT(used, 0u);
  EXPECT_LE(used, 8'000'000u);
  std::filesystem::remove_all(server.directory() / "system");
  until([&] { return status().host.measures_energy == 0; });
  EXPECT_EQ(status().host.energy_uj, 8'000'000u);
}

}  // namespace
}  // namespace nigh::coordinator
