// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the user asked `nigh bench temporal` for.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/jacobi3d/options.hpp"

namespace CLI {
class App;
}

namespace bench {

struct TemporalFlags {  // as typed
  std::string widths, rows, isa, json, plot, obstacles, variant;
  JacobiFlags solver;
  std::optional<long> steps;
  bool quick = false, problems = false, search = false, report = false;

  void declare(CLI::App& app);
};

struct TemporalOptions {  // checked
  std::unique_ptr<JacobiOptions> solver;
  int steps = 0;
  std::vector<int> widths;  // of tiles
  bool search = false;      // of these: nothing but nigh's tiles, and sweeps to hold them to
  int rows = 0;             // a step of the wavefront takes; 0: chosen
  std::vector<bool> obstacles;
  std::string variant;   // to run alone; empty: all
  bool report = false;   // of that one: where pages and tiles were
};

// UsageError naming the argument for what cannot be.
TemporalOptions check(TemporalFlags const& flags);

}  // namespace bench
