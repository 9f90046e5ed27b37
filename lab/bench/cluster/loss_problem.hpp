// SPDX-License-Identifier: Apache-2.0
#pragma once
// A problem that ranks solve again and again while some of them are killed: a tree of UTS that is
// searched, as one task or part by part with a checkpoint of the count so far, or a grid that
// Jacobi's method sweeps.

#include <optional>
#include <stdexcept>
#include <string>

#include "shapes/uts_tree.hpp"
#include "stencils/row_blocks.hpp"
#include "workloads/size_text.hpp"

namespace bench {

struct LossProblem {
  std::string name, size;  // uts, T1; uts-parts, T1; jacobi, 1000x20: cells of a side, rounds
  uts::KnownTree const* tree = nullptr;
  bool is_in_parts = false;
  stencils::RowBlocks grid{0, 16, 16};
  long rounds = 0;

  std::string text() const { return name + ":" + size; }
  char const* unit() const { return tree != nullptr ? "nodes" : "cells"; }
  // Units that a solution takes when no rank is lost.
  double work() const {
    if (tree != nullptr) return static_cast<double>(tree->nodes);
    auto const cells = static_cast<double>(grid.side) * static_cast<double>(grid.side);
    return cells * static_cast<double>(grid.sweeps * rounds);
  }
};

// Of NAME:SIZE; nothing: there is none.
inline std::optional<LossProblem> find_loss_problem(std::string const& text) {
  auto const colon = text.find(':');
  if (colon == text.npos) return {};
  LossProblem p{text.substr(0, colon), text.substr(colon + 1)};
  if (p.name == "uts" || p.name == "uts-parts") {
    p.tree = uts::find_tree(p.size);
    p.is_in_parts = p.name == "uts-parts";
    if (p.tree == nullptr) return {};
    return p;
  }
  auto const by = p.size.find('x');
  if (p.name != "jacobi" || by == p.size.npos) return {};
  try {
    p.grid.side = workloads::number(p.size.substr(0, by), 64, 10'000);
    p.rounds = workloads::number(p.size.substr(by + 1), 1, 1'000'000);
  } catch (std::invalid_argument const&) {
    return {};
  }
  return p;
}

}  // namespace bench
