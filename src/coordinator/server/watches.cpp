// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/watches.hpp"

#include <algorithm>
#include <utility>

#include "policy/cpus/thread_count.hpp"

namespace nigh::coordinator {

std::optional<Energy> EnergyWatch::look(bool counts) {
  Energy energy;
  for (auto const& package : meter_.look()) {
    energy.packages.push_back({{}, counts ? package.used_uj : 0});
    for (int const cpu : package.cpus)
      if (cpu < max_cpus) energy.packages.back().cpus.add(cpu);
  }
  bool const was_measured = std::exchange(is_measured_, !energy.packages.empty());
  if (!was_measured && !is_measured_) return std::nullopt;
  return energy;
}

std::vector<Event> CgroupWatch::come(Connection connection, Peer const& peer,
                                     policy::CoreMap const& machine) {
  std::vector<Event> changes;
  platform::CgroupReader reader(root_);
  Program& program = programs_[connection] = {.peer = peer};
  look_at(connection, program, reader, machine, changes);
  return changes;
}

std::vector<Event> CgroupWatch::look(policy::CoreMap const& machine) {
  std::vector<Event> changes;
  platform::CgroupReader reader(root_);
  auto next = programs_.upper_bound(looked_at_last_);
  for (auto n = std::min(most_looked_at, programs_.size()); n > 0; --n, ++next) {
    if (next == programs_.end()) next = programs_.begin();
    look_at(next->first, next->second, reader, machine, changes);
    looked_at_last_ = next->first;
  }
  return changes;
}

// Where the system says nothing at the moment, the last knowledge stays.
void CgroupWatch::look_at(Connection whose, Program& program, platform::CgroupReader& reader,
                          policy::CoreMap const& machine, std::vector<Event>& changes) {
  auto const found = program.peer.process.look([&] { return reader.grants_to(program.peer.pid); });
  if (!found) return;
  auto const& grants = *found;
  std::vector<QuotaBound> bounds;
  for (auto const& quota : grants.quotas)
    if (int const cpus = policy::whole_cpus(quota.cpus); cpus < machine.size())
      bounds.push_back({{quota.group.device, quota.group.inode}, cpus});
  CpuSet cpuset;
  for (int const cpu : grants.cpus)
    if (cpu < max_cpus) cpuset.add(cpu);
  if (bounds != program.bounds && (grants.odd.empty() || !bounds.empty())) {
    program.bounds = bounds;
    changes.emplace_back(Bound{whose, std::move(bounds)});
  }
  if (cpuset != program.cpuset && !cpuset.empty()) {
    program.cpuset = cpuset;
    changes.emplace_back(Allowed{whose, cpuset});
  }
}

}  // namespace nigh::coordinator
