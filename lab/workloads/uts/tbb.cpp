// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/task_group.h>

#include "uts/found.hpp"

namespace uts {

namespace {

template <int most>
std::uint64_t explore(Config const& config, Node const& node) {
  if (below_cutoff(config, node)) return serial(config.tree, node);
  int const children = children_of(config.tree, node);
  if (children == 0) return 1;
  Found<most> found(children);
  oneapi::tbb::task_group group;
  for (int c = 0; c < children; ++c)
    group.run([&, c] { found.of(c) = explore<most>(config, child_of(node, c)); });
  group.wait();
  return 1 + found.sum();
}

}  // namespace

std::uint64_t solve_tbb(Config const& config) {
  Node const root = root_of(config.tree);
  return config.tree.kind == Kind::binomial ? explore<most_binomial_children>(config, root)
                                            : explore<most_children>(config, root);
}

}  // namespace uts
