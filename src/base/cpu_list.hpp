// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sets of cpus as Linux writes them: "0-3,8".

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
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

// The numbers of such a list, ascending. Words that are no number, or far beyond any cpu's, are
// ignored.
inline std::vector<int> cpus_in_list(std::string_view list) {
  constexpr int most = 1 << 16;
  std::vector<int> cpus;
  while (!list.empty()) {
    auto const part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(part.size() + 1, list.size()));
    int first = 0;
    auto const* const end = part.data() + part.size();
    auto const [at, wrong] = std::from_chars(part.data(), end, first);
    if (wrong != std::errc{} || first < 0) continue;
    int last = first;
    if (at != end && *at == '-' && std::from_chars(at + 1, end, last).ec != std::errc{}) continue;
    for (int cpu = first; cpu <= last && cpu < most; ++cpu) cpus.push_back(cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace nigh::base
