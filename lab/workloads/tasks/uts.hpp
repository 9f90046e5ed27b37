// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unbalanced Tree Search (UTS 2.1): counts the nodes of a tree that is known only as it unfolds;
// one task a node.

#include <array>
#include <cstdint>
#include <vector>

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

// Where the children of one node leave their counts, to be added up when all have ended.

// In the parent's frame, which must be small where trees are thousands of nodes deep: `most` is 8
// for binomial trees. Only the root of those has more children than that.
template <int most>
class Found {
 public:
  explicit Found(int children) : children_(static_cast<std::size_t>(children)) {
    if (children > most) many_.resize(children_);
  }

  std::uint64_t& of(int child) noexcept { return first()[child]; }

  std::uint64_t sum() noexcept {
    std::uint64_t total = 0;
    for (std::size_t c = 0; c < children_; ++c) total += first()[c];
    return total;
  }

 private:
  std::uint64_t* first() noexcept { return many_.empty() ? few_.data() : many_.data(); }

  std::size_t children_;
  std::vector<std::uint64_t> many_;
  std::array<std::uint64_t, static_cast<std::size_t>(most)> few_;
};

// Whether a variant stops making tasks at this node.
inline bool below_cutoff(Config const& config, Node const& node) noexcept {
  return config.cutoff > 0 && node.depth >= config.cutoff;
}

}  // namespace uts
