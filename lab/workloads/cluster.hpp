// SPDX-License-Identifier: Apache-2.0
#pragma once
// Problems whose tasks any rank of a cluster session may run.

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "workloads/problem.hpp"

namespace workloads {

struct ClusterProblem {
  std::string_view name;  // of one of problems()
  // For a size that this has found good: solves it, called on every rank.
  std::function<Answer()> (*make)(std::string const& size, int cutoff, int ranks);
};

std::span<ClusterProblem const> cluster_problems();
ClusterProblem const* find_cluster_problem(std::string_view name);  // null: no such

// One function for each file that adds one.
ClusterProblem fib_on_ranks();
ClusterProblem nqueens_on_ranks();
ClusterProblem uts_on_ranks();
ClusterProblem sparselu_on_ranks();

}  // namespace workloads
