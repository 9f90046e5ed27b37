// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which cpu does thread k of a program take, k = 0, 1, ...? A core of its own as long as there is
// one, close together or far apart.
//
// Unlike topology::order(), no thread gets the SMT sibling of a busy core while another core of the
// machine is free, in any domain (paper: threads that share a core halve each other's speed;
// threads in one domain only share its memory).

#include <algorithm>
#include <array>
#include <cstddef>
#include <nigh/topology.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nigh::policy {

namespace detail {

using Cpus = std::vector<int>;

// These cpus, dealt out: one from each object of the largest level in turn; each object deals out
// its own cpus by the next smaller level.
template <std::size_t N>
Cpus dealt(Cpus const& cpus, std::array<std::unordered_map<int, std::size_t>, N> const& object_of,
           std::size_t at) {
  if (at == N || cpus.size() < 2) return cpus;
  std::vector<std::pair<std::size_t, Cpus>> parts;
  for (int const cpu : cpus) {
    auto const object = object_of[at].at(cpu);
    auto part =
        std::find_if(parts.begin(), parts.end(), [&](auto const& p) { return p.first == object; });
    if (part == parts.end()) part = parts.insert(parts.end(), {object, {}});
    part->second.push_back(cpu);
  }
  for (auto& part : parts) part.second = dealt(part.second, object_of, at + 1);
  Cpus order;
  for (std::size_t turn = 0; order.size() < cpus.size(); ++turn)
    for (auto const& part : parts)
      if (turn < part.second.size()) order.push_back(part.second[turn]);
  return order;
}

}  // namespace detail

// Every allowed cpu once. Compact: in hardware order, the first cpus of all cores before their
// siblings. Scatter: packages in turn, in a package domains, in a domain L3 caches, likewise.
inline std::vector<int> thread_order(topology const& machine, cpu_order how) {
  std::unordered_map<int, std::size_t> rank;  // of a cpu in its core
  std::size_t ranks = 0;
  for (auto const& core : machine.groups(level::core))
    for (std::size_t i = 0; i < core.size(); ++i) {
      rank[core[i]] = i;
      ranks = std::max(ranks, i + 1);
    }
  constexpr std::array levels{level::package, level::domain, level::l3};
  std::array<std::unordered_map<int, std::size_t>, levels.size()> object_of;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    auto const groups = machine.groups(levels[l]);
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (int const cpu : groups[g]) object_of[l][cpu] = g;
  }
  std::vector<int> order;
  for (std::size_t r = 0; r < ranks; ++r) {
    std::vector<int> ranked;
    for (int const cpu : machine.cpus())
      if (rank[cpu] == r) ranked.push_back(cpu);
    if (how == cpu_order::scatter) ranked = detail::dealt(ranked, object_of, 0);
    order.insert(order.end(), ranked.begin(), ranked.end());
  }
  return order;
}

}  // namespace nigh::policy
