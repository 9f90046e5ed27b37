// SPDX-License-Identifier: Apache-2.0
// Counters of energy in trees that are made up.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "platform/energy.hpp"
#include "temporary_tree.hpp"

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;

// Two packages of two cpus each, and what else Intel's machines show.
class Energy : public test::TemporaryTree {
 protected:
  void SetUp() override {
    TemporaryTree::SetUp();
    for (int cpu = 0; cpu < 4; ++cpu) {
      auto const folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      write(folder + "physical_package_id", cpu % 2);
      write(folder + "die_id", 0);
    }
    write("sys/devices/system/cpu/cpufreq/boost", 1);
    zone("intel-rapl:0", "package-0", 100);
    zone("intel-rapl:0:0", "core", 10);
    zone("intel-rapl:0:1", "dram", 20);
    zone("intel-rapl:1", "package-1", 200);
    zone("intel-rapl:2", "psys", 5000);
    zone("intel-rapl-mmio:0", "package-0", 100);
    fs::create_directories(root_ / "sys/class/powercap/intel-rapl");
  }

  template <class Value>
  void write(fs::path const& file, Value const& value) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << value << '\n';
  }
  static fs::path in_zone(std::string const& zone, char const* file) {
    return "sys/class/powercap/" + zone + "/" + file;
  }
  void zone(std::string const& zone, char const* name, long uj) {
    write(in_zone(zone, "name"), name);
    write(in_zone(zone, "max_energy_range_uj"), 1000);
    uses(zone, uj);
  }
  void uses(std::string const& zone, long uj) { write(in_zone(zone, "energy_uj"), uj); }
};

TEST_F(Energy, IsCountedByPackageFromTheFirstLookOn) {
  EnergyMeter meter(root_);
  uses("intel-rapl:0", 130);
  uses("intel-rapl:1", 205);
  auto const first = meter.look();
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].cpus, (std::vector<int>{0, 2}));
  EXPECT_EQ(first[0].used_uj, 30u);
  EXPECT_EQ(first[1].cpus, (std::vector<int>{1, 3}));
  EXPECT_EQ(first[1].used_uj, 5u);
  uses("intel-rapl:0", 131);
  EXPECT_EQ(meter.look()[0].used_uj, 1u);
  EXPECT_EQ(meter.look()[0].used_uj, 0u);
}

TEST_F(Energy, GoesOnWhereACounterBeginsAgain) {
  EnergyMeter meter(root_);
  uses("intel-rapl:0", 990);
  EXPECT_EQ(meter.look()[0].used_uj, 890u);
  uses("intel-rapl:0", 15);
  EXPECT_EQ(meter.look()[0].used_uj, 25u);
}

TEST_F(Energy, IsNotInventedWhereNobodySaysHowFarItCounts) {
  fs::remove(root_ / in_zone("intel-rapl:0", "max_energy_range_uj"));
  write(in_zone("intel-rapl:1", "max_energy_range_uj"), 150);  // it has counted to 200
  EnergyMeter meter(root_);
  uses("intel-rapl:0", 50);
  uses("intel-rapl:1", 40);
  auto const packages = meter.look();
  EXPECT_EQ(packages.at(0).used_uj, 0u);
  EXPECT_EQ(packages.at(1).used_uj, 0u);
  uses("intel-rapl:0", 60);
  EXPECT_EQ(meter.look().at(0).used_uj, 10u);
}

TEST_F(Energy, IsCountedByDieWherePackagesHaveSeveral) {
  fs::remove_all(root_ / "sys/class/powercap");
  for (int cpu = 0; cpu < 4; ++cpu) {
    auto const folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    write(folder + "physical_package_id", 0);
    write(folder + "die_id", cpu / 2);
  }
  zone("intel-rapl:0", "package-0-die-0", 1);
  zone("intel-rapl:1", "package-0-die-1", 2);
  EnergyMeter meter(root_);
  auto const packages = meter.look();
  ASSERT_EQ(packages.size(), 2u);
  EXPECT_EQ(packages[1].cpus, (std::vector<int>{2, 3}));
}

TEST_F(Energy, IsUnknownWithoutCounters) {
  fs::remove_all(root_ / "sys/class");
  EXPECT_TRUE(EnergyMeter(root_).look().empty());
  EXPECT_TRUE(EnergyMeter("/no/such/folder").look().empty());
}

TEST_F(Energy, IsUnknownWhereOneCounterIsUnreadable) {
  uses("intel-rapl:1", 0);
  fs::remove(root_ / in_zone("intel-rapl:1", "energy_uj"));
  fs::create_directories(root_ / in_zone("intel-rapl:1", "energy_uj"));  // for root as well
  EXPECT_TRUE(EnergyMeter(root_).look().empty()) << "half of a machine is no machine";
  fs::remove(root_ / in_zone("intel-rapl:1", "energy_uj"));
  write(in_zone("intel-rapl:1", "energy_uj"), "none");
  EXPECT_TRUE(EnergyMeter(root_).look().empty());
}

TEST_F(Energy, EndsWhereACounterVanishes) {
  EnergyMeter meter(root_);
  EXPECT_EQ(meter.look().size(), 2u);
  fs::remove_all(root_ / "sys/class/powercap/intel-rapl:1");
  EXPECT_TRUE(meter.look().empty());
  zone("intel-rapl:1", "package-1", 200);
  EXPECT_TRUE(meter.look().empty());
}

TEST_F(Energy, IsUnknownWhereNobodySaysWhichCpusArePackages) {
  fs::remove_all(root_ / "sys/devices");
  EXPECT_TRUE(EnergyMeter(root_).look().empty());
}

}  // namespace
}  // namespace nigh::platform
