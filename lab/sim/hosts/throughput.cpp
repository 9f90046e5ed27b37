// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/throughput.hpp"

#include <cstddef>
#include <optional>

#include "sim/hosts/leases.hpp"
#include "sim/hosts/os_threads.hpp"
#include "sim/hosts/scalability.hpp"

namespace nigh::sim {

MeasuredPrograms::MeasuredPrograms(Machine const& machine, policy::CoreMap const& map) {
  for (ProgramProfile const& profile : paper_programs()) {
    HostedProgram hosted{&profile, {}};
    for (RegionProfile const& region : profile.regions)
      hosted.demands.push_back(demand_of(seconds_by_threads(machine, map, region)));
    hosted_.push_back(std::move(hosted));
  }
}

namespace {

std::optional<policy::CoreAllocation> policy_of(Way way) {
  switch (way) {
    case Way::simple:
      return policy::CoreAllocation::simple;
    case Way::nearest:
      return policy::CoreAllocation::nearest;
    case Way::clustered:
      return policy::CoreAllocation::clustered;
    case Way::adjusting:
    case Way::learning:
      return policy::CoreAllocation::clustered_adjusting;
    default:
      return std::nullopt;
  }
}

}  // namespace

result<HostOutcome> run_programs(Machine const& machine, policy::CoreMap const& map,
                                 MeasuredPrograms const& measured, ThroughputCase const& what) {
  std::vector<HostedProgram> programs;
  for (int p : what.programs) programs.push_back(measured[p]);
  auto const count = static_cast<int>(programs.size());
  SharedHost host(machine, map, std::move(programs), what.way == Way::sequential ? 1 : what.at_once,
                  what.data);
  if (auto const how = policy_of(what.way)) {
    Leases leases(host.simulation(), SharedHost::source_actor, host.receiver(), map, *how,
                  static_cast<Time>(machine.message_ns.value), count, what.way != Way::learning);
    return host.run(leases);
  }
  OsThreads system(host.memory(), host.receiver(), count,
                   what.way == Way::fixed ? OsThreads::TeamSize::optimal : OsThreads::TeamSize::all,
                   what.seed);
  return host.run(system);
}

}  // namespace nigh::sim
