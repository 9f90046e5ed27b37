// SPDX-License-Identifier: Apache-2.0
// The serial variants. Their kernels lie in kernels.cpp, apart from them as from all other
// variants.
#include "tasks/fib.hpp"
#include "tasks/nqueens.hpp"
#include "tasks/sort.hpp"
#include "tasks/sparselu.hpp"
#include "tasks/strassen.hpp"
#include "tasks/uts.hpp"

namespace fib {

// Kept a call each: g++ would otherwise unfold many levels into one, which nobody who makes tasks
// can do, and the ratio to it would say nothing about spawning.
[[gnu::noinline]] std::uint64_t serial(int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  return serial(n - 1) + serial(n - 2);
}

std::uint64_t solve_serial(Config const& config) { return serial(config.n); }

}  // namespace fib

namespace nqueens {

std::uint64_t serial(Board const board) noexcept {
  if (board.full()) return 1;
  std::uint64_t found = 0;
  for (int c = 0; c < board.n; ++c)
    if (board.safe(c)) found += serial(board.with(c));
  return found;
}

std::uint64_t solve_serial(Config const& config) { return serial(empty_board(config)); }

}  // namespace nqueens

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

namespace sparselu {

void solve_serial(Matrix& matrix) {
  int const n = matrix.blocks();
  for (int k = 0; k < n; ++k) {
    Step const step{matrix, k};
    step.factorise();
    for (int j = k + 1; j < n; ++j)
      if (step.in_row(j)) step.solve_row(j);
    for (int i = k + 1; i < n; ++i)
      if (step.in_column(i)) step.solve_column(i);
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j)
        if (step.in_column(i) && step.in_row(j)) step.update(i, j);
  }
}

}  // namespace sparselu

namespace strassen {

void solve_serial(Square c, Square a, Square b) {
  if (c.rows <= leaf_rows) return multiply(c, a, b);
  Step const step(c, a, b);
  for (int p = 0; p < Step::products; ++p) step.product(p, solve_serial);
  step.combine();
}

}  // namespace strassen

namespace sort {

namespace {

void merge(Merge const m) {
  if (m.small()) return m.run();
  auto const [low, high] = halves(m);
  merge(low);
  merge(high);
}

// Into `space` when `away`, else in place.
void mergesort(Numbers numbers, Numbers space, bool away) {
  if (numbers.size() <= leaf) {
    sort_leaf(numbers);
    if (away) std::copy(numbers.begin(), numbers.end(), space.begin());
    return;
  }
  auto const [low, high] = halves(numbers);
  auto const [low_space, high_space] = halves(space);
  mergesort(low, low_space, !away);
  mergesort(high, high_space, !away);
  merge(away ? Merge{low, high, space} : Merge{low_space, high_space, numbers});
}

}  // namespace

void mergesort_serial(Numbers numbers, Numbers space) { mergesort(numbers, space, false); }

void quicksort_serial(Numbers numbers) {
  if (numbers.size() <= leaf) return sort_leaf(numbers);
  auto const [low, high] = partition(numbers);
  quicksort_serial(low);
  quicksort_serial(high);
}

}  // namespace sort
