// SPDX-License-Identifier: Apache-2.0
#pragma once
// VictimOrder for task stacks: which worker does a thief ask at its n-th attempt?
//
// A thief searches in rounds of attempts. Hierarchical victim selection (paper: HotSLAW) asks the
// nearest level first, as often as the level has workers, in an order drawn at random, and goes up
// a level when that was in vain. The workers of each level are computed once, as a VictimPlan.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nigh/steal_choice.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "base/choice_names.hpp"

namespace nigh::policy {

using VictimChoice = victim_choice;

inline constexpr std::array<std::string_view, 3> victim_choice_names{"random", "ring",
                                                                     "hierarchical"};

constexpr std::string_view to_string(VictimChoice c) noexcept {
  return victim_choice_names[static_cast<std::size_t>(c)];
}

constexpr std::optional<VictimChoice> victim_choice_from_string(std::string_view name) noexcept {
  return choice_named<VictimChoice>(victim_choice_names, name);
}
static_assert(victim_choice_from_string(to_string(VictimChoice::hierarchical)) ==
              VictimChoice::hierarchical);

// How far a worker is from a thief.
struct Reach {
  nigh::level level = nigh::level::host;  // the smallest that holds both
  double distance = 0;                    // sorts those of one level

  bool operator==(Reach const&) const = default;
};

// The workers that are equally far from a thief, in a ring that starts after it.
struct VictimLevel {
  nigh::level level = nigh::level::host;
  std::vector<int> victims;
  int attempts = 0;  // in one round; never fewer than there are victims, except across a cluster
};

// The victims of one thief.
struct VictimPlan {
  int self = 0;
  int workers = 1;
  std::vector<VictimLevel> levels;      // nearest first; none for a worker that is alone
  std::vector<std::uint16_t> level_of;  // [worker]: index in levels; of self: 0, without meaning
  int attempts_per_round = 0;           // of all levels together
  nigh::level topmost = nigh::level::package;  // from here on a steal is far; see topmost_level()
};

// [worker]: whether it is of the thief's host.
inline std::vector<bool> workers_of_host(VictimPlan const& plan) {
  std::vector<bool> are(static_cast<std::size_t>(plan.workers));
  for (auto const& there : plan.levels)
    for (int const w : there.victims) are[static_cast<std::size_t>(w)] = there.level != level::cluster;
  return are;
}

// The paper's numbers: as many attempts as the level holds cores within a host, and 4 log2 of them
// across a cluster, where asking every rank would take too long.
constexpr int attempts_at(nigh::level level, int workers_within) noexcept {
  if (level != nigh::level::cluster) return workers_within;
  return 4 * static_cast<int>(std::bit_width(static_cast<unsigned>(workers_within) - 1u));
}
static_assert(attempts_at(nigh::level::l3, 4) == 4);
static_assert(attempts_at(nigh::level::cluster, 256) == 32);

// The level at which a thief takes more at a time: that of its farthest victims, if they lie beyond
// its domain. Within a domain a second visit costs too little to take tasks that the victim may
// still need.
constexpr nigh::level topmost_level(nigh::level of_farthest_victims) noexcept {
  return std::max(of_farthest_victims, nigh::level::package);
}

// to[w] is how far worker w is; to[self] is not read. Time grows with workers x levels.
inline VictimPlan victim_plan(int self, std::span<Reach const> to) {
  NIGH_ASSERT(self >= 0 && static_cast<std::size_t>(self) < to.size(), "the thief is a worker");
  VictimPlan plan;
  plan.self = self;
  plan.workers = static_cast<int>(to.size());

  std::vector<Reach> reaches;
  for (int w = 0; w < plan.workers; ++w) {
    Reach const& reach = to[static_cast<std::size_t>(w)];
    if (w != self && std::find(reaches.begin(), reaches.end(), reach) == reaches.end())
      reaches.push_back(reach);
  }
  std::sort(reaches.begin(), reaches.end(), [](Reach const& a, Reach const& b) {
    return a.level != b.level ? a.level < b.level : a.distance < b.distance;
  });
  NIGH_ASSERT(reaches.size() <= std::numeric_limits<std::uint16_t>::max(), "a level fits its word");

  for (Reach const& reach : reaches) plan.levels.push_back({reach.level, {}, 0});
  plan.level_of.assign(to.size(), 0);
  for (int step = 1; step < plan.workers; ++step) {
    int const w = (self + step) % plan.workers;
    auto const at = std::find(reaches.begin(), reaches.end(), to[static_cast<std::size_t>(w)]) -
                    reaches.begin();
    plan.levels[static_cast<std::size_t>(at)].victims.push_back(w);
    plan.level_of[static_cast<std::size_t>(w)] = static_cast<std::uint16_t>(at);
  }
  int within = 1;
  for (VictimLevel& level : plan.levels) {
    within += static_cast<int>(level.victims.size());
    level.attempts = attempts_at(level.level, within);
    plan.attempts_per_round += level.attempts;
    plan.topmost = topmost_level(level.level);
  }
  return plan;
}

// cpu_of[w]: where worker w sits. Several may share a cpu, the nearest there can be.
inline VictimPlan victim_plan(int self, std::span<int const> cpu_of, topology const& machine) {
  std::vector<Reach> to;
  int const here = cpu_of[static_cast<std::size_t>(self)];
  for (int there : cpu_of)
    to.push_back({machine.common_level(here, there), machine.cpu_distance(here, there)});
  return victim_plan(self, to);
}

struct Victim {
  int worker = -1;  // -1: there is no victim
  int level = -1;   // index in the plan's levels

  bool operator==(Victim const&) const = default;
};

// The victim of this attempt of a round; attempts beyond the round begin it anew. A caller that
// draws random_bits once for a whole round asks every victim of a level before any of them twice; a
// caller that draws anew for each attempt asks independently. Allocates nothing; time grows with
// the number of levels.
inline Victim victim(VictimPlan const& plan, VictimChoice choice, int attempt,
                     std::uint32_t random_bits) noexcept {
  if (plan.levels.empty()) return {};
  auto const drawn_below = [random_bits](std::size_t n) {
    return static_cast<std::size_t>((std::uint64_t{random_bits} * n) >> 32);
  };
  auto round = static_cast<std::size_t>(attempt);
  if (choice != VictimChoice::hierarchical) {
    auto const others = static_cast<std::size_t>(plan.workers) - 1;
    if (choice == VictimChoice::random) round += drawn_below(others);
    auto const self = static_cast<std::size_t>(plan.self);
    std::size_t const w = (self + 1 + round % others) % (others + 1);
    return {static_cast<int>(w), plan.level_of[w]};
  }
  round %= static_cast<std::size_t>(plan.attempts_per_round);
  std::size_t l = 0;
  for (; round >= static_cast<std::size_t>(plan.levels[l].attempts); ++l)
    round -= static_cast<std::size_t>(plan.levels[l].attempts);
  auto const& victims = plan.levels[l].victims;
  return {victims[(drawn_below(victims.size()) + round) % victims.size()], static_cast<int>(l)};
}

// The victims of each worker of a regular machine, computed instead of stored as one VictimPlan
// each.
//
// On a cluster of equal hosts, groups of workers lie within groups, all of a level have the same
// size, and worker w is in group w / size of each level. One table of levels then serves all
// workers, even a million, where stored plans would take space by workers squared. It names the
// same victims as their plans.

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

// Lifelines: from which ranks does a thief wait for tasks once it has asked others in vain?
// (Saraswat, Kambadur, Kodali, Grove and Krishnamoorthy, "Lifeline-based Global Load Balancing",
// PPoPP 2011.)

// The paper's cyclic hypercube: ranks are numbers to a base, and a rank has a lifeline to each rank
// whose number is its own with one digit increased by one, cyclically; a digit that would lead to a
// rank that does not exist goes on. So no rank has more lifelines than digits, and along them every
// rank is reached from every other: first each digit goes down to 0, then each up to its value,
// from the greatest digit down; all numbers on the way are below one of the two ranks.
inline std::vector<int> lifelines(int self, int ranks, int base = 2) {
  NIGH_ASSERT(0 <= self && self < ranks && base >= 2, "a rank has a number");
  std::vector<int> buddies;
  for (std::int64_t unit = 1; unit < ranks; unit *= base) {
    std::int64_t const digit = self / unit % base;
    for (int step = 1; step < base; ++step) {
      auto const buddy = self + ((digit + step) % base - digit) * unit;
      if (buddy >= ranks) continue;
      buddies.push_back(static_cast<int>(buddy));
      break;
    }
  }
  return buddies;
}

// VictimOrder for queues: which other queues does a worker look into, and in which order?

// Candidates sorted by distance from `self`, nearest first, without `self`. Equally distant ones
// follow each other in a ring that starts after self, so that different thieves do not all ask the
// same victim (the plain ring (self + 1) % n of locality queues on ccNUMA is the special case of
// equal distances).
inline std::vector<int> victim_order(int self, std::span<double const> distance_to) {
  auto const n = static_cast<int>(distance_to.size());
  std::vector<int> ring;
  for (int step = 1; step < n; ++step) ring.push_back((self + step) % n);
  std::stable_sort(ring.begin(), ring.end(), [&](int a, int b) {
    return distance_to[static_cast<std::size_t>(a)] < distance_to[static_cast<std::size_t>(b)];
  });
  return ring;
}

}  // namespace nigh::policy
