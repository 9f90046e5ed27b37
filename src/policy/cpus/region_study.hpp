// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many threads can a region use? The paper's two counts, from a study in which the region ran
// with every size of team (region_scaling.hpp has to do with few sizes and a model).
//
//   maximum   beyond it more threads give no speedup: the smallest team of which no larger one that
//             was measured saves 3% of the time
//   optimal   the largest team up to that whose speedup is within 20% of ideal
//
// A profile keeps neither count of an indifferent region.

#include <algorithm>
#include <span>

#include "policy/cpus/region_scaling.hpp"

namespace nigh::policy {

inline constexpr double some_speedup = 0.97;
inline constexpr double within_ideal = 0.8;

// Relative to the smallest measured team, whose own speedup counts as ideal.
constexpr double speedup(TimedTeam smallest, TimedTeam team) noexcept {
  return smallest.duration * smallest.threads / team.duration;
}

// By threads, ascending; at least one, and no duration is 0.
constexpr ThreadDemand demand_by_study(std::span<TimedTeam const> teams) noexcept {
  int maximum = teams.back().threads;
  double best_of_larger = teams.back().duration;
  for (auto i = teams.size(); i-- > 0;) {
    if (best_of_larger >= some_speedup * teams[i].duration) maximum = teams[i].threads;
    best_of_larger = std::min(best_of_larger, teams[i].duration);
  }
  int optimal = teams.front().threads;
  for (TimedTeam const& team : teams)
    if (team.threads <= maximum && speedup(teams.front(), team) >= within_ideal * team.threads)
      optimal = team.threads;
  return {maximum, optimal};
}

// No two teams differ beyond noise (region_scaling.hpp): it takes as long with any of them.
constexpr bool is_indifferent(std::span<Typical const> teams) noexcept {
  for (auto const& a : teams)
    for (auto const& b : teams)
      if (compare(a, b) == Compared::slower) return false;
  return true;
}

}  // namespace nigh::policy
