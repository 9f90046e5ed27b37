// SPDX-License-Identifier: Apache-2.0
#include "platform/cpu_times.hpp"

#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

#include "platform/process_stat.hpp"

namespace nigh::platform {

// Lines as "cpu3 user nice system idle iowait irq softirq steal guest guest_nice"; user and nice
// contain the last two.
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

std::optional<double> busy_seconds(std::span<int const> cpus, std::filesystem::path const& root) {
  auto const times = cpu_times(root);
  std::int64_t ticks = 0;
  for (int const cpu : cpus) {
    if (cpu < 0 || static_cast<std::size_t>(cpu) >= times.size()) return std::nullopt;
    ticks += times[static_cast<std::size_t>(cpu)].busy;
  }
  return static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::optional<std::int64_t> cpu_time_of(int process, std::filesystem::path const& root) {
  auto const stat = read_stat(root / "proc" / std::to_string(process) / "stat");
  if (process <= 0 || !stat) return std::nullopt;
  constexpr std::size_t utime = 14, stime = 15;
  auto const user = stat->number(utime), system = stat->number(stime);
  if (!user || !system || *user < 0 || *system < 0) return std::nullopt;
  return *user + *system;
}

}  // namespace nigh::platform
