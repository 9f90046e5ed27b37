// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much energy has the processor used, by package, where the system lets us read that? From
// RAPL's counters through Linux's powercap: cores, caches and memory controllers of a package,
// without memory itself and the rest of the machine.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace nigh::platform {

class EnergyMeter {
 public:
  // Looks for counters that can be read; there may be none.
  explicit EnergyMeter(std::filesystem::path root = "/");

  struct Package {
    std::vector<int> cpus;      // Linux's numbers, ascending
    std::uint64_t used_uj = 0;  // microjoules since the last look, or since the meter was made
  };
  // All packages, or none: a total without some of them would mislead. A counter runs over after
  // some minutes under load, so look more often than that. A counter that cannot be read any more
  // ends the measuring.
  std::vector<Package> look();

 private:
  struct Counter {
    std::filesystem::path file;
    std::uint64_t range_uj = 0;  // largest value, after which it begins at 0 again; 0: unknown
    std::uint64_t last_uj = 0;
    std::vector<int> cpus;
  };
  std::vector<Counter> counters_;
};

}  // namespace nigh::platform
