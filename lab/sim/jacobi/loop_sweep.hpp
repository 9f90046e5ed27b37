// SPDX-License-Identifier: Apache-2.0
#pragma once
// Figures 1 and 2 of Wittmann and Hager (2009): the same sweep as a worksharing loop over layers,
// on one socket and on several, two threads on each: as many as saturate both machines' memory.

#include <cstdint>
#include <nigh/schedule.hpp>

#include "sim/machine.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

enum class LoopPages : std::uint8_t {
  own,          // first touched by the same loop; where the sweep is dynamic, by static,1
  first_domain  // all in domain 0
};

struct JacobiLoop {
  schedule_kind schedule = schedule_kind::static_blocks;
  LoopPages pages = LoopPages::own;
  int sockets = 1;
  int threads = 2;  // on each
  int layers = 60;
};

int sockets_of(Machine const& machine);

// Million lattice site updates a second, of one sweep.
double jacobi_loop_mlups(Machine const& machine, JacobiLoop const& what, std::uint64_t seed,
                         LostStep lost = {});

}  // namespace nigh::sim
