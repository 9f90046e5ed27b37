// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fits the machine's memory to cells of Table 1, and asks what it then says of a cell that was left
// out: a model that has only been bent to what it tells misses that one.

#include <array>
#include <cstdint>
#include <vector>

#include "sim/jacobi/table1.hpp"

namespace nigh::sim {

struct Table1Fit {
  Machine machine;       // with the numbers that came out
  double rms = 0;        // of the cells it was fitted to
  int left_out = -1;     // in table1; -1: none
  double simulated = 0;  // of that one, MLUP/s

  double error() const {
    return simulated / table1[static_cast<std::size_t>(left_out)].published - 1;
  }
};

// thread_gb_per_s, per_hop, controller_gb_per_s and crowding are fitted, from a start that knows no
// cell: cores and controllers as wide as the links, a hop as far as near memory, no crowding. One
// seed.
Table1Fit fit_table1(Machine const& machine, int left_out, std::uint64_t seed, int evaluations);

}  // namespace nigh::sim
