// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/team_sizes.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>

namespace nigh::cli {
namespace {

// 0: it is none.
int positive(std::string_view text) {
  int number = 0;
  auto const [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc{} && end == text.data() + text.size() && number > 0 ? number : 0;
}

}  // namespace

std::vector<int> usual_team_sizes(int cpus) {
  constexpr int every = 8;
  std::vector<int> sizes;
  for (int n = 1; n <= std::min(cpus, every); ++n) sizes.push_back(n);
  for (int power = every; power < cpus; power *= 2)
    for (int const n : {power / 2 * 3, power * 2})
      if (n < cpus) sizes.push_back(n);
  if (cpus > every) sizes.push_back(cpus);
  return sizes;
}

result<std::vector<int>> parse_team_sizes(std::string_view text, int cpus) {
  auto const quoted = '"' + std::string(text) + '"';
  std::set<int> sizes;
  for (std::size_t at = 0; at <= text.size();) {
    auto const comma = std::min(text.find(',', at), text.size());
    auto const part = text.substr(at, comma - at);
    at = comma + 1;
    auto const dots = part.find("..");
    int const first = positive(part.substr(0, dots));
    int const last = dots == part.npos ? first : positive(part.substr(dots + 2));
    if (first == 0 || last < first)
      return error{quoted + " does not list numbers of threads, as 1,2,4 or 1..8"};
    if (last > cpus)
      return error{std::to_string(last) + " threads: only " + std::to_string(cpus) +
                   " cpus are allowed"};
    for (int n = first; n <= last; ++n) sizes.insert(n);
  }
  return std::vector<int>(sizes.begin(), sizes.end());
}

}  // namespace nigh::cli
