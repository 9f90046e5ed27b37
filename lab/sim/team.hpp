// SPDX-License-Identifier: Apache-2.0
#pragma once
// Team: the workers of a modelled program, laid out as a runtime of the product lays out its own.

#include <nigh/topology.hpp>
#include <vector>

#include "policy/stealing/worker_layout.hpp"

namespace nigh::sim {

struct Team {
  Team(topology const& machine, std::vector<int> const& cpus_, policy::LayoutRules rules = {});

  policy::WorkerLayout layout;
  std::vector<int> cpus;  // [worker]: position in the machine's core map

  int size() const noexcept { return layout.workers(); }
  policy::LoopWorkers const& loop_workers() const noexcept { return layout.loop_workers(); }
};

}  // namespace nigh::sim
