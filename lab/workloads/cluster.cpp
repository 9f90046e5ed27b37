// SPDX-License-Identifier: Apache-2.0
#include "workloads/cluster.hpp"

#include <algorithm>

namespace workloads {

std::span<ClusterProblem const> cluster_problems() {
  static ClusterProblem const all[] = {fib_on_ranks(), nqueens_on_ranks(), uts_on_ranks(),
                                       sparselu_on_ranks()};
  return all;
}

ClusterProblem const* find_cluster_problem(std::string_view name) {
  auto const all = cluster_problems();
  auto const found = std::ranges::find(all, name, &ClusterProblem::name);
  return found != all.end() ? &*found : nullptr;
}

}  // namespace workloads
