// SPDX-License-Identifier: Apache-2.0
#pragma once
// VictimOrder on a regular machine: a VictimPlan that is worked out rather than kept.
//
// On a cluster of equal hosts, groups of workers lie within groups, those of a level all equally
// large, and worker w is in group w / size of each. Then one table of levels serves all workers, a
// million of them too, where plans would take space by workers squared. It names the same victims
// as their plans.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "policy/stealing/steal_order.hpp"

namespace nigh::policy {

// Groups of one level; what lies within them is in the rungs before.
struct VictimRung {
  nigh::level level = nigh::level::host;
  int workers = 1;   // in a group
  int attempts = 0;  // in one round
};

struct VictimLadder {
  std::vector<VictimRung> rungs;  // nearest first, each larger than the one before
  int workers = 1;
  int attempts_per_round = 0;
  nigh::level topmost = nigh::level::package;
};

// Groups as level and size, inside out; each size is a multiple of the one before, the last is
// everybody. Groups that hold nobody new are left out.
inline VictimLadder victim_ladder(std::span<VictimRung const> groups) {
  VictimLadder ladder;
  for (VictimRung const& group : groups) {
    NIGH_ASSERT(group.workers % ladder.workers == 0, "groups hold whole groups");
    if (group.workers == ladder.workers) continue;
    ladder.rungs.push_back({group.level, group.workers, attempts_at(group.level, group.workers)});
    ladder.workers = group.workers;
    ladder.attempts_per_round += ladder.rungs.back().attempts;
    ladder.topmost = topmost_level(group.level);
  }
  return ladder;
}

// The rung of the smallest group that holds both; the two differ.
inline int rung_of(VictimLadder const& ladder, int a, int b) noexcept {
  int rung = 0;
  for (auto const& r : ladder.rungs) {
    if (a / r.workers == b / r.workers) break;
    ++rung;
  }
  return rung;
}

// As victim() of this worker's plan.
inline Victim victim(VictimLadder const& ladder, int self, VictimChoice choice, int attempt,
                     std::uint32_t random_bits) noexcept {
  if (ladder.rungs.empty()) return {};
  auto const drawn_below = [random_bits](int n) {
    return static_cast<int>((std::uint64_t{random_bits} * static_cast<unsigned>(n)) >> 32);
  };
  if (choice != VictimChoice::hierarchical) {
    int const others = ladder.workers - 1;
    int step = attempt % others;
    if (choice == VictimChoice::random) step = (step + drawn_below(others)) % others;
    int worker = self + 1 + step;
    if (worker >= ladder.workers) worker -= ladder.workers;
    return {worker, rung_of(ladder, self, worker)};
  }
  int round = attempt % ladder.attempts_per_round;
  int rung = 0, inner = 1;  // workers of the group that has been asked
  while (round >= ladder.rungs[static_cast<std::size_t>(rung)].attempts) {
    round -= ladder.rungs[static_cast<std::size_t>(rung)].attempts;
    inner = ladder.rungs[static_cast<std::size_t>(rung)].workers;
    ++rung;
  }
  // The group without the inner one, from behind that on and around.
  int const size = ladder.rungs[static_cast<std::size_t>(rung)].workers;
  int const begin = self - self % size, inner_end = self - self % inner + inner;
  int const victims = size - inner, behind = begin + size - inner_end;
  int const nth = (drawn_below(victims) + round) % victims;
  return {nth < behind ? inner_end + nth : begin + nth - behind, rung};
}

}  // namespace nigh::policy
