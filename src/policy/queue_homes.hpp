// SPDX-License-Identifier: Apache-2.0
#pragma once
// QueueHomes: which workers share a locality queue, and whose queues do they look at when theirs is
// empty?
//
// A home is what the workers of a domain share, or within one those of a cache or a core. A cache may
// reach beyond a domain; a home does not.

#include <algorithm>
#include <cstddef>
#include <nigh/topology.hpp>
#include <span>
#include <utility>
#include <vector>

#include "policy/victim_order.hpp"

namespace nigh::policy {

struct QueueHome {
  int domain = 0;
  std::vector<int> workers;  // ascending
  std::vector<int> others;   // homes: those of the domain first, the nearest cache before the rest
};

// `cpus`: of each worker. Homes come in the order of their domains, and within one as the hardware
// has them.
inline std::vector<QueueHome> queue_homes(topology const& machine, std::span<int const> cpus,
                                          level level) {
  std::vector<std::size_t> group_of;  // [cpu]
  auto const groups = machine.groups(level);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (int const cpu : groups[g]) {
      group_of.resize(std::max(group_of.size(), static_cast<std::size_t>(cpu) + 1));
      group_of[static_cast<std::size_t>(cpu)] = g;
    }
  auto const place = [&](int cpu) {
    return std::pair(machine.domain_of_cpu(cpu), group_of[static_cast<std::size_t>(cpu)]);
  };
  std::vector<std::pair<int, std::size_t>> places;
  for (int const cpu : cpus) places.push_back(place(cpu));
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());

  std::vector<QueueHome> homes;
  for (auto const& p : places) homes.push_back({p.first, {}, {}});
  for (std::size_t w = 0; w < cpus.size(); ++w) {
    auto const found = std::lower_bound(places.begin(), places.end(), place(cpus[w]));
    homes[static_cast<std::size_t>(found - places.begin())].workers.push_back(static_cast<int>(w));
  }

  auto const first_cpu = [&](QueueHome const& h) {
    return cpus[static_cast<std::size_t>(h.workers.front())];
  };
  for (std::size_t self = 0; self < homes.size(); ++self) {
    std::vector<double> distance;
    for (auto const& other : homes)
      distance.push_back(homes[self].domain != other.domain
                             ? machine.distance(homes[self].domain, other.domain)  // 10 at least
                             : machine.cpu_distance(first_cpu(homes[self]), first_cpu(other)));
    homes[self].others = victim_order(static_cast<int>(self), distance);
  }
  return homes;
}

}  // namespace nigh::policy
