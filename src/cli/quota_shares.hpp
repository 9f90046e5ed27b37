// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of a coordinator's programs run under the same quota of cpu time? The system says.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "coordinator/client/status.hpp"

namespace nigh::cli {

struct QuotaShare {
  double cpus = 0;                           // cpus' worth of time
  std::string directory = {};                // of the cgroup
  std::vector<std::uint32_t> programs = {};  // that have it as their smallest, by number
};

// None where no quota is smaller than the host. Programs whose process has ended are left out.
// `root` has the system's files of cgroups; another one in tests.
std::vector<QuotaShare> quota_shares(coordinator::HostStatus const& status,
                                     std::filesystem::path const& root = "/");

}  // namespace nigh::cli
