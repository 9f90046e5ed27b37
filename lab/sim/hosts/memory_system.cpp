// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/memory_system.hpp"

#include <algorithm>

namespace nigh::sim {

MemorySystem::MemorySystem(Machine const& machine, policy::CoreMap const& map,
                           FluidNetwork& network)
    : machine_(machine), network_(network) {
  for (int p = 0; p < map.size(); ++p)
    domain_of_.push_back(machine.shape.domain_of_cpu(map.cpu(p)));
  first_core_ = static_cast<ResourceId>(network.resources());
  for (int p = 0; p < map.size(); ++p) network.add({1, 0, 0});
  first_controller_ = static_cast<ResourceId>(network.resources());
  for (int d = 0; d < machine.links.domains(); ++d)
    network.add({(machine.has_cpus(d) ? machine.controller_gb_per_s : machine.apart_gb_per_s).value,
                 machine.crowding.value, static_cast<int>(machine.uncrowded_flows.value)});
  first_link_ = static_cast<ResourceId>(network.resources());
  for (int l = 0; l < machine.links.directed_links(); ++l)
    network.add({machine.link_gb_per_s.value, 0, 0});
  if (machine.l3_gb_per_s.value <= 0) return;
  l3_of_.resize(domain_of_.size());
  for (auto const& sharers : machine.shape.groups(level::l3)) {
    auto const l3 = network.add({machine.l3_gb_per_s.value, 0, 0});
    for (int const cpu : sharers) l3_of_[static_cast<std::size_t>(map.position(cpu))] = l3;
  }
}

void MemorySystem::load(ResourceId resource, double weight) {
  if (weight <= 0) return;
  auto const known = std::find_if(uses_.begin(), uses_.end(),
                                  [&](Use const& u) { return u.resource == resource; });
  if (known != uses_.end())
    known->weight += weight;
  else
    uses_.push_back({resource, weight});
}

void MemorySystem::load_way(int from, int to, double gb_per_s) {
  for (auto const& part : machine_.links.route(from, to))
    load(first_link_ + static_cast<ResourceId>(part.link), part.share * gb_per_s);
}

void MemorySystem::load_l3(int cpu, double gb_per_s) {
  if (!l3_of_.empty()) load(l3_of_[static_cast<std::size_t>(cpu)], gb_per_s);
}

FlowId MemorySystem::start(Time now, double work_s, ThreadPlace const& place,
                           MemoryNeed const& need) {
  uses_.clear();
  int const here = domain_of(place.cpu);
  double const exchange = place.neighbour >= 0 ? need.exchange : 0;
  double const read = machine_.read_share.value;
  double seconds_of_one = 1 - need.memory;
  auto const fetch = [&](int from, double share) {
    seconds_of_one += need.memory * share * machine_.slowdown(here, from);
    double const gb_per_s = machine_.thread_gb_per_s.value * need.memory * share;
    load(first_controller_ + static_cast<ResourceId>(from), gb_per_s);
    load_l3(place.cpu, gb_per_s);
    load_way(from, here, gb_per_s * read);
    load_way(here, from, gb_per_s * (1 - read));
  };
  int const domains = machine_.shape.cpu_domains();
  if (need.interleaved)
    for (int d = 0; d < domains; ++d) fetch(d, (1 - exchange) / domains);
  else
    fetch(place.home, 1 - exchange);
  // Neighbours in a domain share its last cache: no memory is read.
  if (place.neighbour == here)
    seconds_of_one += need.memory * exchange;
  else if (place.neighbour >= 0)
    fetch(place.neighbour, exchange);
  load(first_core_ + static_cast<ResourceId>(place.cpu), seconds_of_one);
  return network_.start(now, work_s, uses_, 1 / seconds_of_one);
}

FlowId MemorySystem::start(Time now, int cpu, double busy_s, std::span<Traffic const> traffic) {
  uses_.clear();
  int const here = domain_of(cpu);
  double all_s = busy_s, all_gb = 0;
  for (Traffic const& t : traffic) {
    double const gb = t.in_gb + t.out_gb;
    all_s += gb / machine_.thread_gb_per_s.value * machine_.slowdown(here, t.domain);
    all_gb += gb;
    load(first_controller_ + static_cast<ResourceId>(t.domain), gb);
    load_way(t.domain, here, t.in_gb);
    load_way(here, t.domain, t.out_gb);
  }
  load_l3(cpu, all_gb);
  load(first_core_ + static_cast<ResourceId>(cpu), all_s);
  return network_.start(now, 1, uses_, 1 / all_s);
}

}  // namespace nigh::sim
