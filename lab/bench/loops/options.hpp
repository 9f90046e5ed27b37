// SPDX-License-Identifier: Apache-2.0
#pragma once
// What `nigh bench loops` can be asked for.

#include <cstddef>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace bench {

struct LoopsFlags {
  std::string json, plot;
  std::optional<long> repetitions;
  long threads = 2, elements = 20'000'000, rows = 4000;
  bool quick = false;

  void declare(CLI::App& app);
};

// The same, checked, and what follows from it.
struct LoopsOptions {
  explicit LoopsOptions(nigh::topology here) : machine(std::move(here)) {}

  nigh::topology machine;
  std::vector<int> cpus;  // as many as threads
  int repetitions = 0;
  std::size_t elements = 0;  // of each of the triad's arrays
  std::size_t rows = 0;      // of the triangle
  bool quick = false;
};

LoopsOptions check(LoopsFlags const& flags);  // UsageError naming the argument

}  // namespace bench
