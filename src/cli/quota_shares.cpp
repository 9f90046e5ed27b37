// SPDX-License-Identifier: Apache-2.0
#include "cli/quota_shares.hpp"

#include <algorithm>

#include "cli/program_process.hpp"
#include "platform/cgroup.hpp"

namespace nigh::cli {

std::vector<QuotaShare> quota_shares(coordinator::HostStatus const& status,
                                     std::filesystem::path const& root) {
  std::vector<QuotaShare> shares;
  platform::CgroupReader reader(root);
  for (auto const& p : status.programs) {
    auto const* const grants = ProgramProcess::of(p)
                                   .look([&] { return &reader.grants_to(static_cast<int>(p.pid)); })
                                   .value_or(nullptr);
    if (grants == nullptr || grants->quotas.empty()) continue;
    auto const& tightest = grants->quotas.front();
    if (tightest.cpus >= status.host.cpus) continue;
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
