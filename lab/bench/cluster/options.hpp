// SPDX-License-Identifier: Apache-2.0
#pragma once
// The checked options of nigh bench cluster.

#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/cluster/launcher.hpp"

namespace bench {

struct ClusterProblem {
  std::string name, size;
  bool has_policies() const { return name != "jacobi3d"; }  // its ranks share it out beforehand
};

// Whom a rank asks for tasks, and for how many, as cluster-tasks calls them.
struct StealPolicy {
  std::string victims, chunks;
  std::string name() const { return victims + '+' + chunks; }
};

struct ClusterOptions {
  ClusterOptions(nigh::topology live, Launcher starts)
      : machine(std::move(live)), launcher(std::move(starts)) {}

  nigh::topology machine;
  Launcher launcher;
  int ranks = 2, repetitions = 5;
  bool latencies = false, quick = false;
  std::vector<ClusterProblem> problems;
  std::vector<StealPolicy> policies;
  std::string note;  // what one should know of this setting; empty: nothing
};

}  // namespace bench
