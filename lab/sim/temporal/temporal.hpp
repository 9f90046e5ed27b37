// SPDX-License-Identifier: Apache-2.0
#pragma once
// Many time steps of a Jacobi solver on a modelled machine: sweeps, and tiles of planes and steps.
//
//   sweeps     each thread its block of planes, step after step, a barrier after each
//   barriers   row after row of tiles, each thread its block of a row, a barrier after each (static
//              temporal blocking)
//   queues     a tile waits in the locality queue where its middle lies as soon as those that it
//              needs are done, as nigh::stencil has it
//
// Planes lie in blocks over the domains. src/policy decides the tiles' widths and queues, and which
// worker takes which.

#include <cstdint>
#include <nigh/topology.hpp>

#include "sim/machine.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

enum class TemporalWay : std::uint8_t { sweeps, barriers, queues };

struct TemporalCase {
  TemporalWay way = TemporalWay::sweeps;
  nigh::level queue_level = nigh::level::l3;
  int planes = 2304;
  int side = 600;  // rows of a plane, and sites of a row
  int steps = 96;
  int width = 0;           // planes of a tile; 0: as nigh::stencil chooses it
  bool obstacles = false;  // of the first half of the planes, three quarters of the sites are solid
  bool has_cache = true;   // without, each update goes to memory
};

struct TemporalOutcome {
  double mlups = 0;             // of sites that are not solid
  double bytes_per_update = 0;  // to and from memory
  double remote_tiles = 0;      // of all: run in another domain than the one of their middle
  double remote_bytes = 0;      // of those to and from memory: of another domain
  int width = 0;                // of tiles; 0: none
  double window_kib = 0;        // that a worker has in use at a time
};

// Of tiles, as nigh::stencil chooses it there.
int chosen_width(Machine const& machine, TemporalCase what);
// The limit of all memory controllers together at 16 bytes an update, in MLUP/s.
double streaming_limit_mlups(Machine const& machine);

// Tiles are at least 2 planes wide, and no wider than there are planes.
TemporalOutcome run_temporal(Machine const& machine, TemporalCase const& what, std::uint64_t seed,
                             LostStep lost = {});

}  // namespace nigh::sim
