// SPDX-License-Identifier: Apache-2.0
#include "cli/quota_shares.hpp"

#include <algorithm>

#include "platform/cgroup.hpp"

namespace nigh::cli {

std::vector<QuotaShare> quota_shares(coordinator::HostStatus const& status) {
  std::vector<QuotaShare> shares;
  platform::CgroupReader reader;
  for (auto const& p : status.programs) {
    auto const& quotas = reader.grants_to(static_cast<int>(p.pid)).quotas;
    if (quotas.empty() || quotas.front().cpus >= status.host.cpus) continue;
    auto const& tightest = quotas.front();
    auto share = std::find_if(shares.begin(), shares.end(), [&](QuotaShare const& s) {
      return s.directory == tightest.directory;
    });
    if (share == shares.end())
      share = shares.insert(shares.end(), {tightest.cpus, tightest.directory});
    share->programs.push_back(p.program);
  }
  return shares;
}

}  // namespace nigh::cli
