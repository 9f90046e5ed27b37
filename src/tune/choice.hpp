// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which configuration to use after a search, and how much is known about that.

#include <cstdint>
#include <span>

#include "tune/candidate.hpp"

namespace nigh::tune {

struct Choice {
  int candidate = 0;    // to use
  int leader = 0;       // the cheapest
  double times = 1;     // the first candidate's cost by the leader's; 1: the first is not known
  double chance = 0;    // that the leader is cheaper than the first
  bool is_tie = false;  // it may not be: the first is used then, being the case without options
  bool is_repeated = false;  // both ran twice or more
  int ties = 0;  // other candidates that may be as cheap as the leader, the first not among them
};

// Something was measured. The seed is for drawing from the deviations.
Choice choose(std::span<Measured const> measured, std::uint64_t seed);

}  // namespace nigh::tune
