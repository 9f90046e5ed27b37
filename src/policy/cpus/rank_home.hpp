// SPDX-License-Identifier: Apache-2.0
#pragma once
// RankHome: which part of the host belongs to a rank of an MPI program?
//
// The ranks are spread over the domains evenly: rank r of n gets domain r x domains / n. Ranks in
// the same domain have consecutive numbers, and each a part of it.

#include <vector>

#include "policy/cpus/core_map.hpp"
#include "policy/cpus/position_set.hpp"

namespace nigh::policy {

constexpr int home_of_rank(int rank, int ranks, int domains) noexcept {
  return static_cast<int>(static_cast<long>(rank) * domains / ranks);
}
static_assert(home_of_rank(1, 2, 4) == 2 && home_of_rank(3, 4, 4) == 3);
static_assert(home_of_rank(1, 8, 4) == 0 && home_of_rank(2, 8, 4) == 1);

// The place its requests are served from: where its leader runs, if that is at home; otherwise a
// cpu of its home, a free one if there is any. `place` -1: it is unknown where the leader runs. A
// domain without cpus that the rank may use does not count.
inline int place_of_rank(CoreMap const& map, PositionSet const& allowed, PositionSet const& free,
                         int rank, int ranks, int place) {
  int const level = map.domain_level();
  std::vector<int> domains;
  for (int d = 0; d < map.domains(); ++d)
    if (allowed.count(map.set(level, d)) > 0) domains.push_back(d);
  if (domains.empty()) return place;
  int const n = static_cast<int>(domains.size());
  int const nth = home_of_rank(rank, ranks, n);
  Range const home = map.set(level, domains[static_cast<std::size_t>(nth)]);
  if (place >= 0 && home.has(place)) return place;

  auto const first_of = [&](int home_number) {  // the ranks that live there begin with
    return static_cast<int>((static_cast<long>(home_number) * ranks + n - 1) / n);
  };
  int const before = rank - first_of(nth), here = first_of(nth + 1) - first_of(nth);
  auto usable = free;
  usable &= allowed;
  if (usable.count(home) == 0) usable = allowed;
  int const part = home.begin + before * home.size() / here;
  int const behind = usable.next(part, home.end);
  return behind < home.end ? behind : usable.next(home.begin, home.end);
}

}  // namespace nigh::policy
