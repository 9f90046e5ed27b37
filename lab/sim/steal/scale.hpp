// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work stealing where nobody measured it: from a thousand cores to a million.

#include <string>
#include <vector>

#include "sim/steal/steal_run.hpp"

namespace nigh::sim {

// The policies as they are, and what changes when one of their constants does.
struct ScaleWay {
  std::string name;
  StealRules rules;
  int most_attempts = 0;  // in a round at each level; 0: as policy::attempts_at says
};

// random+half, hvs+hcs; hvs+hcs/N with at most N attempts at a level, /20us with rests up to that
// instead of 1 ms.
std::vector<ScaleWay> scale_ways();

// The same machine, asked no more often than that at any level in one round.
StealMachine with_attempts(StealMachine machine, int most);

inline double efficiency(TaskForest const& forest, StealMachine const& machine,
                         StealOutcome const& outcome) noexcept {
  return static_cast<double>(forest.work(machine.spawn_ns.value_or(forest.spawn_ns))) /
         (static_cast<double>(machine.workers()) * static_cast<double>(outcome.makespan));
}

}  // namespace nigh::sim
