// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sets of cpus as Linux writes them: "0-3,8".

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace nigh::base {

inline std::string cpu_list(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  std::string text;
  for (std::size_t first = 0; first < cpus.size();) {
    auto last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[first]);
    if (last > first) text += '-' + std::to_string(cpus[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace nigh::base
