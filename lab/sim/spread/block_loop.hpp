// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spread: a grid of blocks, Jacobi in two dimensions, a team of workers for one block at a time
// (Robson, Chandrasekar: Flexible hierarchical execution of parallel task loops).
//
//   block   waits for its neighbours' borders, then for a team of its domain (oldest first)
//   team    leader takes the borders in | all update the block | all read what they have written
//           once more | leader hands the borders out, each in a message as soon as that is done
//
// Blocks are dealt to hosts, and those of a host to its domains, in rectangles. There is no barrier
// between iterations: who has his borders goes on.
//
// Caches: of what a block's second reading needs, the share is in the cache that kept_share() of
// all parts has that are worked on at a time by the cpus behind that cache. Likewise for the next
// iteration, of all blocks there are.

#include <cstdint>

#include "sim/machine.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

struct BlockLoop {
  int grid = 24;          // blocks in a row and in a column
  int edge = 1024;        // sites of a block in a row and in a column
  int spread = 1;         // workers of a team, at most
  int active = 0;         // workers of each domain; 0: one for each core
  int iterations = 4;     // beside the first, which is not counted
  bool sends = true;      // without, nobody waits for anybody
  bool has_cache = true;  // without, all comes from memory each time
};

struct LoopTimes {
  double iteration_s = 0;
  double memory_gb_per_s = 0;  // of a host
  double kept = 0;             // share of the second reading that needs no memory
  int teams = 0;               // of a host
};

LoopTimes simulate_blocks(Machine const& machine, BlockLoop const& loop, std::uint64_t seed,
                          LostStep lost = {});

}  // namespace nigh::sim
