// SPDX-License-Identifier: Apache-2.0
#include "platform/cpu_times.hpp"

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

namespace nigh::platform {

// Lines as "cpu3 user nice system idle iowait irq softirq steal guest guest_nice"; guests' times
// are in user and nice once more.
std::vector<CpuTimes> cpu_times(std::filesystem::path const& root) {
  constexpr std::size_t largest_cpu = 65535;
  std::vector<CpuTimes> times;
  std::ifstream file(root / "proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
    std::istringstream words(line.substr(3));
    std::size_t cpu = 0;
    std::int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0;
    if (!(words >> cpu >> user >> nice >> system >> idle >> waiting) || cpu > largest_cpu) continue;
    if (cpu >= times.size()) times.resize(cpu + 1);
    times[cpu] = {user + nice + system, idle + waiting};
  }
  return times;
}

}  // namespace nigh::platform
