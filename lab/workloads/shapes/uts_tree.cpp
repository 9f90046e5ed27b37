// SPDX-License-Identifier: Apache-2.0
#include "shapes/uts_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace uts {

namespace {

// In [0, 1), from the low 31 bits of the state's last word.
double chance_of(Node const& node) noexcept {
  return static_cast<double>(node.state[4] & 0x7fffffffU) / 2147483648.0;
}

double branching(Tree const& tree, int depth) noexcept {
  if (depth == 0) return tree.root;
  switch (tree.shape) {
    case Shape::linear:
      return tree.root * (1.0 - static_cast<double>(depth) / tree.depth);
    case Shape::exponential:
      return tree.root * std::pow(depth, -std::log(tree.root) / std::log(tree.depth));
    case Shape::cyclic:
      if (depth > 5 * tree.depth) return 0;
      return std::pow(tree.root, std::sin(2 * std::numbers::pi * depth / tree.depth));
    case Shape::fixed:
      return depth < tree.depth ? tree.root : 0;
  }
  return 0;
}

int geometric_children(Tree const& tree, Node const& node) noexcept {
  double const expected = branching(tree, node.depth);
  if (expected <= 0) return 0;
  double const p = 1 / (1 + expected);
  double const children = std::floor(std::log(1 - chance_of(node)) / std::log(1 - p));
  return static_cast<int>(std::min<double>(children, most_children));
}

constexpr Tree geometric(Shape shape, int depth, double root, std::uint32_t seed) {
  Tree t;
  t.kind = Kind::geometric;
  t.shape = shape;
  t.depth = depth;
  t.root = root;
  t.seed = seed;
  return t;
}

constexpr Tree binomial(double root, double chance, int children, std::uint32_t seed) {
  Tree t;
  t.kind = Kind::binomial;
  t.root = root;
  t.chance = chance;
  t.children = children;
  t.seed = seed;
  return t;
}

constexpr KnownTree known[] = {
    {"T1", geometric(Shape::fixed, 10, 4, 19), 4130071},
    {"T2", geometric(Shape::cyclic, 16, 6, 502), 4117769},
    {"T3", binomial(2000, 0.124875, 8, 42), 4112897},
    {"T5", geometric(Shape::linear, 20, 4, 34), 4147582},
    {"T1L", geometric(Shape::fixed, 13, 4, 29), 102181082},
    {"T2L", geometric(Shape::cyclic, 23, 7, 220), 96793510},
    {"T3L", binomial(2000, 0.200014, 5, 7), 111345631},
    {"T1-tiny", geometric(Shape::fixed, 5, 4, 19), 3987},
    {"T2-tiny", geometric(Shape::cyclic, 3, 3, 502), 115},
    {"T3-tiny", binomial(200, 0.12, 8, 42), 4649},
    {"T5-tiny", geometric(Shape::linear, 8, 4, 34), 1317},
};

}  // namespace

Node root_of(Tree const& tree) noexcept { return {sha1_of_seed(tree.seed), 0}; }

Node child_of(Node const& parent, int index) noexcept {
  return {sha1(parent.state, static_cast<std::uint32_t>(index)), parent.depth + 1};
}

int children_of(Tree const& tree, Node const& node) noexcept {
  if (tree.kind == Kind::geometric) return geometric_children(tree, node);
  if (node.depth == 0) return static_cast<int>(tree.root);
  return chance_of(node) < tree.chance ? tree.children : 0;
}

std::span<KnownTree const> known_trees() noexcept { return known; }

KnownTree const* find_tree(std::string const& name) noexcept {
  for (KnownTree const& t : known)
    if (t.name == name) return &t;
  return nullptr;
}

}  // namespace uts
