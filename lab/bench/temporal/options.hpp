// SPDX-License-Identifier: Apache-2.0
#pragma once
// The checked options of `nigh bench temporal`.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/jacobi3d/options.hpp"

namespace bench {

struct TemporalOptions {  // checked
  std::unique_ptr<JacobiOptions> solver;
  int steps = 0;
  std::vector<int> widths;  // of tiles
  bool search = false;      // of these: nothing but nigh's tiles, and sweeps to hold them to
  int rows = 0;             // a step of the wavefront takes; 0: chosen
  std::vector<bool> obstacles;
  std::string variant;  // to run alone; empty: all
  bool report = false;  // of that one: where pages and tiles were
};

}  // namespace bench
