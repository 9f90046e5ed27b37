// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unbalanced Tree Search (UTS 2.1): counts the nodes of a tree that is known only as it unfolds;
// one task a node.

#include <cstdint>

#include "shapes/uts_tree.hpp"

namespace uts {

struct Config {
  Tree tree;
  int cutoff = 0;  // depth from which on no tasks are made, 0: none
};

// Nodes below and with `node`.
std::uint64_t serial(Tree const& tree, Node const& node) noexcept;

std::uint64_t solve_serial(Config const& config);
std::uint64_t solve_openmp(Config const& config);
std::uint64_t solve_tbb(Config const& config);
std::uint64_t solve_nigh(Config const& config);

}  // namespace uts
