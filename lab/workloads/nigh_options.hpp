// SPDX-License-Identifier: Apache-2.0
#pragma once
// nigh's workers where a workload's team is.

#include <nigh/runtime.hpp>

namespace workloads {

// Pinned to the team's cpus; where nobody pins, as the environment says.
template <class Team>
nigh::runtime_options nigh_options(Team const& team) {
  nigh::runtime_options o;
  o.machine = team.machine;
  o.workers = team.threads();
  if (team.pin != nullptr) {
    o.cpus = team.cpus;
    return o;
  }
  o = nigh::options_from_environment(o);
  o.workers = team.threads();
  return o;
}

}  // namespace workloads
