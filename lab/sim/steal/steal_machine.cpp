// SPDX-License-Identifier: Apache-2.0
#include "sim/steal/steal_machine.hpp"

#include <algorithm>
#include <cmath>

namespace nigh::sim {

namespace {

Time whole(Sourced const& ns) { return static_cast<Time>(std::llround(ns.value)); }

}  // namespace

result<StealMachine> steal_machine(Machine const& machine, int workers) {
  auto const& levels = machine.levels;
  if (levels.empty())
    return error{machine.name + " says nothing of \"levels\", of what it costs to take work away"};
  int const all = levels.back().cpus;
  if (workers <= 0) workers = all;
  if (workers > all)
    return error{machine.name + " has " + std::to_string(all) + " cpus, not " +
                 std::to_string(workers)};
  for (auto const& l : levels)  // inside out, so that later ones keep what earlier ones asked for
    if (l.cpus < workers) workers = (workers + l.cpus - 1) / l.cpus * l.cpus;

  StealMachine found;
  found.per_host = static_cast<int>(machine.shape.cpus().size());
  found.interface_ns = whole(machine.interface_ns);
  if (machine.spawn_ns) found.spawn_ns = whole(*machine.spawn_ns);
  std::vector<policy::RegularLevel> groups;
  int inner = 1;
  for (auto const& l : levels) {
    int const size = std::min(l.cpus, workers);
    if (size == inner) continue;  // as regular_plan() does
    inner = size;
    groups.push_back({l.level, size, 0});
    found.rungs.push_back({l.name, whole(l.probe_ns), whole(l.lock_ns), whole(l.copy_ns),
                           whole(l.unlock_ns), 1 / l.gb_per_s.value, size > found.per_host});
  }
  found.plan = policy::regular_plan(groups);
  return found;
}

}  // namespace nigh::sim
