// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long each cpu has worked and rested since the host started, and how long processes have
// worked.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace nigh::platform {

struct CpuTimes {
  std::int64_t busy = 0;  // hundredths of a second, usually
  std::int64_t idle = 0;
};

// [Linux's number of the cpu]; empty where the system does not say.
std::vector<CpuTimes> cpu_times(std::filesystem::path const& root = "/");

// How long these cpus have worked since the host started, all together.
std::optional<double> busy_seconds(std::span<int const> cpus,
                                   std::filesystem::path const& root = "/");

// As CpuTimes::busy: the time of all threads of a process since it began. Nothing where the system
// does not say.
std::optional<std::int64_t> cpu_time_of(int process, std::filesystem::path const& root = "/");

}  // namespace nigh::platform
