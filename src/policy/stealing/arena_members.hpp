// SPDX-License-Identifier: Apache-2.0
#pragma once
// ArenaMembers: which workers of a runtime may run on the cpus it has been granted?
//
// The workers on these cpus. At least one always may, so that a program goes on while it waits for
// cpus; and where tasks must stay in their domain, at least one of each domain.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace nigh::policy {

struct ArenaWorkers {
  std::vector<int> cpu_of;  // [worker]
  std::vector<int> home_of;
  int homes = 1;
  bool each_home_needs_one = false;
};

inline std::vector<bool> arena_members(ArenaWorkers const& workers, std::span<int const> granted) {
  auto const n = workers.cpu_of.size();
  std::vector<bool> may(n, false);
  std::vector<bool> has_one(workers.each_home_needs_one ? static_cast<std::size_t>(workers.homes)
                                                        : 1);
  auto const group = [&](std::size_t w) {
    return workers.each_home_needs_one ? static_cast<std::size_t>(workers.home_of[w]) : 0;
  };
  for (std::size_t w = 0; w < n; ++w)
    if (std::find(granted.begin(), granted.end(), workers.cpu_of[w]) != granted.end())
      may[w] = has_one[group(w)] = true;
  for (std::size_t w = 0; w < n; ++w)
    if (!has_one[group(w)]) may[w] = has_one[group(w)] = true;
  return may;
}

}  // namespace nigh::policy
