// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of a team's cpus each thread gets, and how far apart the threads then are.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "policy/cpus/core_map.hpp"
#include "policy/cpus/position_set.hpp"

namespace nigh::policy {

// Threads with close numbers should be close. The leader stays at its place; the others follow it
// through its core set, then through the rest of the next larger one, and so on; then from domain
// to domain, each time to the nearest that has cpus of the team.
inline std::vector<int> team_order(CoreMap const& map, PositionSet const& team, int place) {
  int const first = team.has(place) ? place : team.next(0, team.size());
  std::vector<int> order;
  if (first == team.size()) return order;
  auto const append = [&](int begin, int end) {
    for (int p = team.next(begin, end); p < end; p = team.next(p + 1, end)) order.push_back(p);
  };
  Range done{first, first + 1};
  order.push_back(first);
  for (int l = 0; l <= map.domain_level(); ++l) {
    Range const set = map.around(l, first);
    append(done.end, set.end);
    append(set.begin, done.begin);
    done = set;
  }

  int const domains = map.domain_level();
  std::size_t const members = static_cast<std::size_t>(team.count());
  if (order.size() == members) return order;
  std::vector<char> visited(static_cast<std::size_t>(map.domains()));
  for (int at = map.set_of(domains, first); order.size() < members;) {
    visited[static_cast<std::size_t>(at)] = 1;
    for (std::size_t d : map.domains_from(at)) {
      Range const set = map.set(domains, static_cast<int>(d));
      if (visited[d] != 0 || team.next(set.begin, set.end) == set.end) continue;
      append(set.begin, set.end);
      at = static_cast<int>(d);
      break;
    }
  }
  return order;
}

// How far apart the threads of a team are (the paper's three sums), thread i on positions[i].
struct TeamDistance {
  double total = 0;     // of all pairs
  double weighted = 0;  // of all pairs, each divided by the difference of the threads' numbers
  double local = 0;     // of each thread and the next
};

inline TeamDistance team_distance(CoreMap const& map, std::span<int const> positions) {
  TeamDistance sum;
  for (std::size_t i = 0; i < positions.size(); ++i)
    for (std::size_t j = i + 1; j < positions.size(); ++j) {
      double const d = map.distance(positions[i], positions[j]);
      sum.total += d;
      sum.weighted += d / static_cast<double>(j - i);
      if (j == i + 1) sum.local += d;
    }
  return sum;
}

}  // namespace nigh::policy
