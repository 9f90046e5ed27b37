// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which spread is best for blocks of one size, and does policy::SpreadChoice find it?

#include <cstdint>
#include <vector>

#include "policy/spread/spread_choice.hpp"
#include "sim/spread/block_loop.hpp"

namespace nigh::sim {

struct SpreadCell {
  policy::SpreadConfig config;
  LoopTimes times;
};

// Many runs of the choice, each with noise of its own on the times of all cells.
struct ChoiceScore {
  int runs = 0;
  int near_best = 0;                 // at most 5% above the best cell
  int worse_than_usual = 0;          // more than 2% above spread 1
  int most_trials = 0;               //
  double median_trials = 0;          //
  double median_above_best = 0;      // of 1
  policy::SpreadConfig most_common;  // what was chosen
};

struct SpreadRow {
  int edge = 0;
  std::vector<SpreadCell> cells;  // spread by spread with all workers, then with half of them
  std::size_t all_workers = 0;    // so many of the first kind
  ChoiceScore choice;

  SpreadCell const& one() const noexcept { return cells.front(); }
  SpreadCell const& best() const noexcept;  // with all workers
  double gain() const noexcept {            // of spread 1's time
    return 1 - best().times.iteration_s / one().times.iteration_s;
  }
};

struct SpreadStudy {
  BlockLoop loop;  // the base of all variations
  std::uint64_t seed = 1;
  int choices = 100;  // runs of the choice; 0: none, and no cells with half of the workers
  double noise = 0.03;
};

SpreadRow study_block_size(Machine const& machine, SpreadStudy const& study, int edge);

}  // namespace nigh::sim
