// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spread: how many workers work on one block at a time. Which spreads are worth a trial, and which
// teams does a spread make of the workers?

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace nigh::policy {

// The workers of one block: consecutive ones of consecutive domains.
struct SpreadTeam {
  int first_domain = 0, domains = 1;
  int first_worker = 0, workers = 1;  // counted over all domains

  bool operator==(SpreadTeam const&) const = default;
};

// As few teams of at most `spread` workers as possible, their sizes as even as possible. A team
// lies within a domain if that has enough workers; a larger team takes whole domains.
inline std::vector<SpreadTeam> spread_teams(int domains, int workers_a_domain, int spread) {
  std::vector<SpreadTeam> teams;
  auto const parts = [](int whole, int most) { return (whole + most - 1) / most; };
  if (spread > workers_a_domain) {
    int const groups = parts(domains, std::max(1, spread / workers_a_domain));
    for (int g = 0; g < groups; ++g) {
      int const begin = g * domains / groups, end = (g + 1) * domains / groups;
      teams.push_back(
          {begin, end - begin, begin * workers_a_domain, (end - begin) * workers_a_domain});
    }
    return teams;
  }
  int const in_each = parts(workers_a_domain, std::max(1, spread));
  for (int d = 0; d < domains; ++d)
    for (int t = 0; t < in_each; ++t) {
      int const begin = t * workers_a_domain / in_each, end = (t + 1) * workers_a_domain / in_each;
      teams.push_back({d, 1, d * workers_a_domain + begin, end - begin});
    }
  return teams;
}

// The spreads to try, ascending: divisors of a domain's workers, then of the domains; sizes between
// two that are far apart, though they divide nothing; only some of many that are close.
//
//   2 domains of 14    1 2 4 7 14 28
//   1 domain of 13     1 3 7 13
//   8 domains of 24    1 2 3 6 12 24 48 96 192
inline std::vector<int> spreads_to_try(int domains, int workers_a_domain) {
  constexpr double close = 1.5, far = 3;
  std::vector<int> all{1};
  auto const climb = [&](int unit, int whole) {
    int const begin = all.back();
    std::vector<int> sizes;
    for (int n = 1; n <= whole; ++n)
      if (whole % n == 0 && unit * n > begin) sizes.push_back(unit * n);
    for (int size : sizes) {
      while (size > far * all.back()) {
        double const gap = static_cast<double>(size) / all.back();
        double const step = std::pow(gap, 1 / std::ceil(std::log(gap) / std::log(far)));
        int const parts = static_cast<int>(std::lround(unit * whole / (step * all.back())));
        int const between = unit * ((whole + parts - 1) / std::max(1, parts));
        if (between <= all.back() || between >= size) break;
        all.push_back(between);
      }
      bool const is_top = size == sizes.back();
      if (is_top && all.size() > 1 && size < close * all.back()) all.pop_back();
      if (is_top || size >= close * all.back()) all.push_back(size);
    }
  };
  climb(1, workers_a_domain);
  climb(workers_a_domain, domains);
  return all;
}

}  // namespace nigh::policy
