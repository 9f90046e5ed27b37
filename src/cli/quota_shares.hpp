// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of a coordinator's programs run under the same quota of cpu time? The system says.

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/client/status.hpp"

namespace nigh::cli {

struct QuotaShare {
  double cpus = 0;                           // cpus' worth of time
  std::string directory = {};                // of the cgroup
  std::vector<std::uint32_t> programs = {};  // that have it as their smallest, by number
};

// None where no quota is smaller than the host.
std::vector<QuotaShare> quota_shares(coordinator::HostStatus const& status);

}  // namespace nigh::cli
