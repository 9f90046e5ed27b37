// SPDX-License-Identifier: Apache-2.0
#pragma once
// All contestants in turn, on an empty grid and on one with obstacles.

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/temporal/contestants.hpp"

namespace bench {

// Nanoseconds for a cache line to go from the first worker's cpu to the second's and back.
struct CpuDistance {
  double before = 0, after = 0;  // before the copy, and after the run
};

struct TemporalCell {
  std::string name, why_absent;
  int width = 0;  // of the tiles it had; 0: sweeps
  bool chosen = false;
  double window_kib = 0;        // that a worker had in use at a time
  double bytes_per_update = 0;  // to and from memory, predicted
  bool obstacles = false;
  std::vector<double> rates;       // MLUP/s, of sites that are computed
  std::vector<double> copy_rates;  // right before, of elements
  std::vector<CpuDistance> cpus;   // of each sample; none with one cpu
  bool verified = true;
};

struct TemporalStudy {
  std::vector<TemporalCell> cells;
  bool streaming_copy = false;       // what the limit is
  std::vector<double> cached_rates;  // MLUP/s of the same update where nothing waits for memory
  double empty_tile_us = 0;          // worker time that a tile takes without its update
};

TemporalStudy study(TemporalOptions const& options);
std::string describe(TemporalStudy const& study, TemporalOptions const& options);
std::vector<Result> results(TemporalStudy const& study, TemporalOptions const& options);

}  // namespace bench
