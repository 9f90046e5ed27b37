// SPDX-License-Identifier: Apache-2.0
#pragma once
// The checked options of `nigh bench tasks`.

#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/tasks/solver.hpp"

namespace bench {

struct TasksOptions {
  explicit TasksOptions(nigh::topology here) : machine(std::move(here)) {}

  nigh::topology machine;
  std::vector<int> cpus;  // as many as threads
  long tasks = 0;         // empty ones, in one sample
  int empty_repetitions = 0;
  int repetitions = 0;        // of each cell of the matrix
  double sample_seconds = 0;  // problems are solved again and again until a sample is that long
  bool warm_up = true;        // solve everything once before
  std::vector<Question> questions;
  bool quick = false;

  int threads() const noexcept { return static_cast<int>(cpus.size()); }
};

}  // namespace bench
