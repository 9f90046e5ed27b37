// SPDX-License-Identifier: Apache-2.0
#include "workloads/cluster.hpp"

#include <nigh/cluster.hpp>

#include "uts/found.hpp"

namespace uts {

namespace {

// Every rank has the same one: a task travels with its node alone, as large as fits a task's slot.
Config searched;

// The first child here and now, each of the others as a task.
template <int most>
std::uint64_t explore(Node const node) {
  if (below_cutoff(searched, node)) return serial(searched.tree, node);
  int const children = children_of(searched.tree, node);
  if (children == 0) return 1;
  Found<most> found(children);
  nigh::cluster::task_scope scope;
  for (int c = children - 1; c > 0; --c) scope.spawn<explore<most>>(found.of(c), child_of(node, c));
  found.of(0) = explore<most>(child_of(node, 0));
  scope.wait();
  return 1 + found.sum();
}

std::uint64_t solve_cluster(Config const& config) {
  searched = config;
  Node const root = root_of(config.tree);
  return config.tree.kind == Kind::binomial
             ? nigh::cluster::run<explore<most_binomial_children>>(root)
             : nigh::cluster::run<explore<most_children>>(root);
}

}  // namespace

}  // namespace uts

namespace workloads {

ClusterProblem uts_on_ranks() {
  return {"uts", [](std::string const& size, int cutoff, int) -> std::function<Answer()> {
            uts::Config const config{uts::find_tree(size)->tree, cutoff};
            return [config] { return uts::solve_cluster(config); };
          }};
}

}  // namespace workloads
