// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run that `nigh trace` has recorded, as work that can be done again elsewhere.
//
//   phase   until all tasks were done: a sweep, a loop, all of a call from outside
//   piece   what one worker did in one go: a queued task; of a tree of forked tasks, the thousand
//           or so between two samples
//
// A worker's stack tells how pieces of a tree depend on each other. A piece begins with the task
// that lay lowest in it, in slot `low`. That task was put there in the last piece before that was
// as low or lower; from then on somebody else could have taken it. So that piece is its parent.

#include <cstddef>
#include <nigh/result.hpp>
#include <string>
#include <vector>

namespace nigh::sim {

struct Piece {
  double seconds = 0;
  int phase = 0;
  int parent = -1;   // it begins when this one has ended; -1: with its phase
  int near = -1;     // the domain it was put near; -1: none
  double bytes = 0;  // it touches there
};

struct RecordedRun {
  std::string program;
  int workers = 0;
  double seconds = 0;          // from the first begin of a task to the last end
  std::vector<double> pauses;  // before each phase but the first: nothing was running
  std::vector<Piece> pieces;   // parents first, in the order of their beginnings otherwise
  std::size_t steals = 0;

  double work_s() const;
  // Of the longest chain in each phase, each piece the parent of the next: no number of workers
  // does it faster here.
  double chain_s() const;
};

inline constexpr std::size_t largest_trace = std::size_t{1} << 30;

// The error says what is wrong with it, for who has named it.
result<RecordedRun> parse_recorded(std::string const& json);

}  // namespace nigh::sim
