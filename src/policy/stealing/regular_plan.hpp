// SPDX-License-Identifier: Apache-2.0
#pragma once
// The victims of each worker of a regular machine, computed instead of stored as one VictimPlan
// each.
//
// On a cluster of equal hosts, groups of workers lie within groups, all of a level have the same
// size, and worker w is in group w / size of each level. One table of levels then serves all
// workers, even a million, where stored plans would take space by workers squared. It names the
// same victims as their plans.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "policy/stealing/steal_order.hpp"

namespace nigh::policy {

// The groups of one level; the groups inside them belong to the levels before.
struct RegularLevel {
  nigh::level level = nigh::level::host;
  int workers = 1;   // in a group
  int attempts = 0;  // in one round
};

struct RegularPlan {
  std::vector<RegularLevel> levels;  // nearest first, each larger than the one before
  int workers = 1;
  int attempts_per_round = 0;
  nigh::level topmost = nigh::level::package;
};

// Groups as level and size, from the inside out; each size is a multiple of the one before, and the
// last group holds all workers. A level whose groups add no worker is left out.
inline RegularPlan regular_plan(std::span<RegularLevel const> groups) {
  RegularPlan plan;
  for (RegularLevel const& group : groups) {
    NIGH_ASSERT(group.workers % plan.workers == 0, "groups hold whole groups");
    if (group.workers == plan.workers) continue;
    plan.levels.push_back({group.level, group.workers, attempts_at(group.level, group.workers)});
    plan.workers = group.workers;
    plan.attempts_per_round += plan.levels.back().attempts;
    plan.topmost = topmost_level(group.level);
  }
  return plan;
}

// The level of the smallest group that holds both; the two differ.
inline int level_index(RegularPlan const& plan, int a, int b) noexcept {
  int level = 0;
  for (auto const& r : plan.levels) {
    if (a / r.workers == b / r.workers) break;
    ++level;
  }
  return level;
}

// The same as victim() of this worker's VictimPlan.
inline Victim victim(RegularPlan const& plan, int self, VictimChoice choice, int attempt,
                     std::uint32_t random_bits) noexcept {
  if (plan.levels.empty()) return {};
  auto const drawn_below = [random_bits](int n) {
    return static_cast<int>((std::uint64_t{random_bits} * static_cast<unsigned>(n)) >> 32);
  };
  if (choice != VictimChoice::hierarchical) {
    int const others = plan.workers - 1;
    int step = attempt % others;
    if (choice == VictimChoice::random) step = (step + drawn_below(others)) % others;
    int worker = self + 1 + step;
    if (worker >= plan.workers) worker -= plan.workers;
    return {worker, level_index(plan, self, worker)};
  }
  int round = attempt % plan.attempts_per_round;
  int level = 0, inner = 1;  // workers of the group that has been asked
  while (round >= plan.levels[static_cast<std::size_t>(level)].attempts) {
    round -= plan.levels[static_cast<std::size_t>(level)].attempts;
    inner = plan.levels[static_cast<std::size_t>(level)].workers;
    ++level;
  }
  // The group without the inner one, from its end on and around.
  int const size = plan.levels[static_cast<std::size_t>(level)].workers;
  int const begin = self - self % size, inner_end = self - self % inner + inner;
  int const victims = size - inner, behind = begin + size - inner_end;
  int const nth = (drawn_below(victims) + round) % victims;
  return {nth < behind ? inner_end + nth : begin + nth - behind, level};
}

}  // namespace nigh::policy
