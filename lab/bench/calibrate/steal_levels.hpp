// SPDX-License-Identifier: Apache-2.0
#pragma once
// At which levels of a machine steals differ, and what they take there.

#include <nigh/topology.hpp>
#include <vector>

#include "bench/calibrate/measure.hpp"

namespace bench {

// Groups of equally many cpus, larger than those of the level inside.
struct StealLevel {
  nigh::level level = nigh::level::host;  // the smallest that has these groups
  std::vector<nigh::level> same{};        // larger ones that have the same
  int cpus = 1;                           // in a group
  int owner = 0, thief = 0;               // two cpus of one, as far from each other as they get

  bool operator==(StealLevel const&) const = default;
};

// Inside out; the last is all of the machine. A level whose groups differ in size is left out; one
// cpu has none.
std::vector<StealLevel> steal_levels(nigh::topology const& machine);

struct StealCosts {
  Samples line;      // a cache line from one cpu to the other and back, ns
  Samples steal;     // from a fork until its worker sees that the other one has begun it, ns
  Samples gb_per_s;  // of a copy of what the other one has just written
};
StealCosts measure_steals(nigh::topology const& machine, StealLevel const& level, int repetitions);

}  // namespace bench
