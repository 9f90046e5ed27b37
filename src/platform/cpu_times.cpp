// SPDX-License-Identifier: Apache-2.0
#include "platform/cpu_times.hpp"

#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

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

// Behind the name in parentheses, which may hold anything: state ppid pgrp session tty tpgid flags
// minflt cminflt majflt cmajflt utime stime.
std::optional<std::int64_t> cpu_time_of(int process, std::filesystem::path const& root) {
  std::ifstream file(root / "proc" / std::to_string(process) / "stat");
  std::string text;
  if (process <= 0 || !std::getline(file, text, '\0')) return std::nullopt;
  auto const name_ends = text.rfind(')');
  if (name_ends == std::string::npos) return std::nullopt;
  std::istringstream words(text.substr(name_ends + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) words >> skipped;
  std::int64_t user = 0, system = 0;
  if (!(words >> user >> system) || user < 0 || system < 0) return std::nullopt;
  return user + system;
}

}  // namespace nigh::platform
