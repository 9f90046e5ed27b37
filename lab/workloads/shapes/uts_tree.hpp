// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a tree of UTS unfolds, by the specification of Olivier et al. (LCPC 2006), version 2.1.

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "shapes/sha1.hpp"

namespace uts {

enum class Kind : std::uint8_t { binomial, geometric };
enum class Shape : std::uint8_t { linear, exponential, cyclic, fixed };  // of a geometric tree

struct Tree {
  Kind kind = Kind::geometric;
  Shape shape = Shape::fixed;
  int depth = 10;          // -d, geometric: where branching ends, or the period of its cycle
  double root = 4;         // -b, branching factor at the root
  double chance = 0;       // -q, binomial: that a node has children
  int children = 0;        // -m, binomial: how many it has then
  std::uint32_t seed = 0;  // -r
};

struct Node {
  Digest state;
  std::int32_t depth = 0;
};

// Beyond this the specification cuts a node's children off, except at a binomial tree's root.
inline constexpr int most_children = 100;
// A binomial node's limit here; the published trees have 8 at most.
inline constexpr int most_binomial_children = 8;

Node root_of(Tree const& tree) noexcept;
Node child_of(Node const& parent, int index) noexcept;
int children_of(Tree const& tree, Node const& node) noexcept;

struct KnownTree {
  char const* name;
  Tree tree;
  std::uint64_t nodes;  // as published; the tiny ones' by the serial variant
};

std::span<KnownTree const> known_trees() noexcept;
KnownTree const* find_tree(std::string const& name) noexcept;  // null: no such tree

}  // namespace uts
