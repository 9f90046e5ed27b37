// SPDX-License-Identifier: Apache-2.0
#include "cli/top/source.hpp"

#include <utility>

namespace nigh::cli::top {

void Source::look(int patience_ms) {
  auto const before = std::exchange(sample_.status, std::nullopt);
  sample_.rates.reset();
  sample_.quotas.clear();
  auto now = coordinator::query_status(sample_.socket, patience_ms);
  if (!now) {
    sample_.why_not = now.message();
    return;
  }
  if (before) sample_.rates = rates_between(*before, *now);
  letters_.give_to(*now);
  sample_.status = std::move(now).value();
  sample_.quotas = quota_shares(*sample_.status);
  name_regions();
  name_pools();
}

void Source::name_regions() {
  sample_.regions.clear();
  auto known = std::exchange(names_, {});
  for (auto const& p : sample_.status->programs) {
    auto const process = ProgramProcess::of(p);
    if (!process.owner()) continue;
    if (auto names = known.extract(process); !names.empty()) names_.insert(std::move(names));
    if (p.region == 0) continue;
    auto at = names_.find(process);
    if (at == names_.end()) at = names_.emplace(process, RegionNames::of_process(process)).first;
    sample_.regions[p.program] = at->second.name(p.region);
  }
}

// Anew each time: a program may load a library at any moment.
void Source::name_pools() {
  sample_.pools.clear();
  for (auto const& p : sample_.status->programs)
    if (auto const names = pool_names_.of(p, sample_.status->host); !names.empty())
      sample_.pools[p.program] = listed(names);
}

}  // namespace nigh::cli::top
