// SPDX-License-Identifier: Apache-2.0
#include "uts/config.hpp"

namespace uts {

std::uint64_t serial(Tree const& tree, Node const& node) noexcept {
  std::uint64_t nodes = 1;
  int const children = children_of(tree, node);
  for (int c = 0; c < children; ++c) nodes += serial(tree, child_of(node, c));
  return nodes;
}

std::uint64_t solve_serial(Config const& config) {
  return serial(config.tree, root_of(config.tree));
}

}  // namespace uts
