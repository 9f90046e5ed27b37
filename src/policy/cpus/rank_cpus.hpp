// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which cpus do the ranks of an MPI program take on a host, and which of them does each thread?
//
// The cores, in hardware order, are cut into as many equal parts as there are ranks, so that a part
// lies within a domain where each domain has a whole number of ranks. A rank that leaves cores of
// its part unused takes every other one, or so: caches and memory then have the same number of
// users everywhere. Compact: consecutive ranks have neighbouring parts. Scatter: consecutive ranks
// have parts in different packages, domains, L3 caches, in turn.

#include <algorithm>
#include <cstddef>
#include <nigh/topology.hpp>
#include <vector>

#include "policy/cpus/core_map.hpp"
#include "policy/cpus/thread_order.hpp"

namespace nigh::policy {

struct RankPlacing {
  int ranks = 1;  // on the host
  cpu_order order = cpu_order::compact;
  int threads = 0;   // of each rank; 0: one for each core of its part, for each cpu with smt
  bool smt = false;  // threads share cores, so fewer cores are used; otherwise each has its own
};

// [rank][thread]: its cpu. First one cpu of each core, then their siblings. Empty: they do not fit.
inline std::vector<std::vector<int>> rank_cpus(topology const& machine, RankPlacing const& how) {
  auto const cores = machine.groups(level::core);
  auto const ranks = static_cast<std::size_t>(std::max(how.ranks, 0));
  if (ranks == 0 || ranks > cores.size()) return {};
  std::size_t siblings = 1;
  for (auto const& core : cores) siblings = std::max(siblings, core.size());
  auto const asked = static_cast<std::size_t>(how.threads);
  auto const each = how.threads == 0 ? cores.size() / ranks
                    : how.smt        ? (asked + siblings - 1) / siblings
                                     : asked;

  std::vector<std::vector<int>> parts;
  for (std::size_t r = 0; r < ranks; ++r) {
    auto const begin = r * cores.size() / ranks, end = (r + 1) * cores.size() / ranks;
    if (each > end - begin) return {};
    std::vector<int> cpus;
    for (std::size_t sibling = 0; sibling < (how.smt ? siblings : 1); ++sibling)
      for (std::size_t i = 0; i < each; ++i) {
        auto const& core = cores[begin + i * (end - begin) / each];
        if (sibling < core.size()) cpus.push_back(core[sibling]);
      }
    if (cpus.size() < asked) return {};
    if (asked > 0) cpus.resize(asked);
    parts.push_back(std::move(cpus));
  }
  if (how.order == cpu_order::compact) return parts;

  std::vector<int> firsts;
  for (auto const& part : parts) firsts.push_back(part.front());
  auto const dealt = thread_order(machine.restricted_to(firsts).value(), cpu_order::scatter);
  std::vector<std::vector<int>> scattered;
  for (int const first : dealt)
    scattered.push_back(*std::find_if(parts.begin(), parts.end(),
                                      [&](auto const& part) { return part.front() == first; }));
  return scattered;
}

// RankHome: which part of the host belongs to a rank of an MPI program?
//
// The ranks are spread over the domains evenly: rank r of n gets domain r x domains / n. Ranks in
// the same domain have consecutive numbers, and each a part of it.

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
