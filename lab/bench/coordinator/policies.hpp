// SPDX-License-Identifier: Apache-2.0
#pragma once
// Each policy on the same semi-random requests: how long it takes to decide, and what comes of it.

#include <string>
#include <string_view>
#include <vector>

#include "bench/results.hpp"
#include "sim/team_requests.hpp"

namespace bench {

namespace policy = nigh::policy;

struct PolicyOptions {
  long requests = 10000;
  long repetitions = 5;  // each with requests of its own
  long seed = 2010;
};

// Once through all requests.
struct PolicyRun {
  nigh::sim::TeamSums sums;
  double p50_us = 0, p99_us = 0;  // of a decision
};

struct PolicyCell {
  std::string machine;
  int cpus = 0, programs = 0;
  std::string policy;
  bool is_timed = true;  // random cpus are nobody's policy
  std::vector<PolicyRun> runs;
};

struct PolicyStudy {
  PolicyOptions options;
  std::vector<PolicyCell> cells;

  PolicyCell const& beside(PolicyCell const& cell, std::string_view policy) const;
};

PolicyStudy study_policies(PolicyOptions const& options);
std::string describe(PolicyStudy const& study);
std::vector<Result> results(PolicyStudy const& study);

}  // namespace bench
