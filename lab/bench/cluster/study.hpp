// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every problem on one rank with one worker, on one with as many as there are ranks, and on ranks
// of one worker under each policy; those of one problem in turn.

#include <map>
#include <string>
#include <vector>

#include "bench/cluster/options.hpp"
#include "bench/results.hpp"

namespace bench {

struct ClusterCell {
  int ranks = 1, workers = 1;  // workers: of each rank
  StealPolicy policy;          // empty: there is nobody to ask, or nothing to ask for

  std::vector<double> seconds;                          // one for each repetition
  std::map<std::string, std::vector<double>> counters;  // of one solution, all ranks together
  bool verified = true;

  std::string name() const;  // "shared/2", "ranks/random+half"
};

struct ClusterGroup {
  ClusterProblem problem;
  std::string answer;  // of the first run; all others' must be the same
  std::vector<ClusterCell> cells;

  ClusterCell const& alone() const { return cells[0]; }
  ClusterCell const& shared() const { return cells[1]; }
  ClusterCell const* with(std::string const& policy) const;  // null: was not asked for
};

struct ClusterStudy {
  std::vector<ClusterGroup> groups;
};

// How many times as fast as the other one: median over repetitions.
double speed_over(ClusterCell const& cell, ClusterCell const& other);

ClusterStudy study(ClusterOptions const& options);
std::string describe(ClusterStudy const& study, ClusterOptions const& options);
std::vector<Result> results(ClusterStudy const& study, ClusterOptions const& options);

}  // namespace bench
