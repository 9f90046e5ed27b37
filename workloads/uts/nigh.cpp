// SPDX-License-Identifier: Apache-2.0
#include <nigh/fork_join.hpp>

#include "uts/found.hpp"

namespace uts {

namespace {

std::uint64_t explore(Config const& config, Node const& node);

// The nodes below the children first .. last-1 of a node, and these: halves of them as tasks.
std::uint64_t explore_children(Config const& config, Node const& node, int first, int last) {
  if (last - first == 1) return explore(config, child_of(node, first));
  int const middle = first + (last - first + 1) / 2;
  auto const [left, right] =
      nigh::fork_join([&] { return explore_children(config, node, first, middle); },
                      [&] { return explore_children(config, node, middle, last); });
  return left + right;
}

std::uint64_t explore(Config const& config, Node const& node) {
  if (below_cutoff(config, node)) return serial(config.tree, node);
  int const children = children_of(config.tree, node);
  return children == 0 ? 1 : 1 + explore_children(config, node, 0, children);
}

}  // namespace

std::uint64_t solve_nigh(Config const& config) { return explore(config, root_of(config.tree)); }

}  // namespace uts
