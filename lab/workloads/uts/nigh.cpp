// SPDX-License-Identifier: Apache-2.0
#include <nigh/typed_task.hpp>

#include "uts/found.hpp"

namespace uts {

namespace {

std::uint64_t explore_children(nigh::task_context& at, Config const* config, Node const* node,
                               int first, int last);

std::uint64_t explore(nigh::task_context& at, Config const& config, Node const& node) {
  if (below_cutoff(config, node)) return serial(config.tree, node);
  int const children = children_of(config.tree, node);
  return children == 0 ? 1 : 1 + explore_children(at, &config, &node, 0, children);
}

std::uint64_t explore_child(nigh::task_context& at, Config const* config, Node const* node, int c) {
  return explore(at, *config, child_of(*node, c));
}

// The nodes below the children first .. last-1 of a node, and these: halves of them as tasks.
std::uint64_t explore_children(nigh::task_context& at, Config const* config, Node const* node,
                               int first, int last) {
  if (last - first == 1) return explore_child(at, config, node, first);
  if (last - first == 2) {
    nigh::typed_task<explore_child> right(at, config, node, first + 1);
    auto const left = explore_child(at, config, node, first);
    return left + right.join(at);
  }
  int const middle = first + (last - first + 1) / 2;
  nigh::typed_task<explore_children> right(at, config, node, middle, last);
  auto const left = explore_children(at, config, node, first, middle);
  return left + right.join(at);
}

}  // namespace

std::uint64_t solve_nigh(Config const& config) {
  return explore(nigh::this_task_context(), config, root_of(config.tree));
}

}  // namespace uts
