// SPDX-License-Identifier: Apache-2.0
// Rank 0 has the matrix. Each block's operations have a rank that they are meant for, and blocks
// travel with them: out with the task, back with its result.

#include "workloads/cluster.hpp"

#include <algorithm>
#include <nigh/cluster.hpp>
#include <span>
#include <vector>

#include "tasks/fib.hpp"
#include "tasks/nqueens.hpp"
#include "tasks/sparselu.hpp"
#include "tasks/uts.hpp"
#include "workloads/size_text.hpp"

namespace fib {

namespace {

// levels: of tasks, before calls are plain.
std::uint64_t spawn(int n, int levels) {
  if (n < 2 || levels == 0) return serial(n);
  std::uint64_t left;
  nigh::cluster::task_scope scope;
  scope.spawn<spawn>(left, n - 1, levels - 1);
  auto const right = spawn(n - 2, levels - 1);
  scope.wait();
  return left + right;
}

std::uint64_t solve_cluster(Config const& config) {
  return nigh::cluster::run<spawn>(config.n, config.cutoff > 0 ? config.cutoff : config.n);
}

}  // namespace

}  // namespace fib

namespace workloads {

ClusterProblem fib_on_ranks() {
  return {"fib", [](std::string const& size, int cutoff, int) -> std::function<Answer()> {
            fib::Config const config{static_cast<int>(number(size, 0, 60)), cutoff};
            return [config] { return fib::solve_cluster(config); };
          }};
}

}  // namespace workloads

namespace nqueens {

namespace {

// Ways to fill the board: the first safe placement here and now, each of the others as a task.
std::uint64_t search(Board const board) {
  if (board.full()) return 1;
  if (board.rows >= board.cutoff) return serial(board);
  int first = 0;
  while (first < board.n && !board.safe(first)) ++first;
  if (first == board.n) return 0;
  Found found;
  int count = 0;
  nigh::cluster::task_scope scope;
  for (int c = first + 1; c < board.n; ++c)
    if (board.safe(c)) scope.spawn<search>(found.of(count++), board.with(c));
  auto const here = search(board.with(first));
  scope.wait();
  return here + found.sum(count);
}

std::uint64_t solve_cluster(Config const& config) {
  return nigh::cluster::run<search>(empty_board(config));
}

}  // namespace

}  // namespace nqueens

namespace workloads {

ClusterProblem nqueens_on_ranks() {
  return {"nqueens", [](std::string const& size, int cutoff, int) -> std::function<Answer()> {
            nqueens::Config const config{static_cast<int>(number(size, 1, 15)), cutoff};
            return [config] { return nqueens::solve_cluster(config); };
          }};
}

}  // namespace workloads

namespace uts {

namespace {

// Every rank has the same one: a task travels with its node alone, as large as fits a task's slot.
Config searched;

// The first child here and now, each of the others as a task.
template <int most>
std::uint64_t explore(Node const node) {
  if (below_cutoff(searched, node)) return serial(searched.tree, node);
  int const children = children_of(searched.tree, node);
  if (children == 0) return 1;
  Found<most> found(children);
  nigh::cluster::task_scope scope;
  for (int c = children - 1; c > 0; --c) scope.spawn<explore<most>>(found.of(c), child_of(node, c));
  found.of(0) = explore<most>(child_of(node, 0));
  scope.wait();
  return 1 + found.sum();
}

std::uint64_t solve_cluster(Config const& config) {
  searched = config;
  Node const root = root_of(config.tree);
  return config.tree.kind == Kind::binomial
             ? nigh::cluster::run<explore<most_binomial_children>>(root)
             : nigh::cluster::run<explore<most_children>>(root);
}

}  // namespace

}  // namespace uts

namespace workloads {

ClusterProblem uts_on_ranks() {
  return {"uts", [](std::string const& size, int cutoff, int) -> std::function<Answer()> {
            uts::Config const config{uts::find_tree(size)->tree, cutoff};
            return [config] { return uts::solve_cluster(config); };
          }};
}

}  // namespace workloads

namespace sparselu {

namespace {

using Floats = std::vector<float>;
using View = std::span<float const>;

Floats solved_row(View diagonal, Floats block, int side) {
  fwd(diagonal.data(), block.data(), side);
  return block;
}

Floats solved_column(View diagonal, Floats block, int side) {
  bdiv(diagonal.data(), block.data(), side);
  return block;
}

Floats updated(View row, View column, Floats inner, int side) {
  bmod(row.data(), column.data(), inner.data(), side);
  return inner;
}

class Factorisation {
 public:
  Factorisation(int blocks, int side, int ranks)
      : matrix_(blocks, side),
        ranks_(ranks),
        results_(static_cast<std::size_t>(blocks) * static_cast<std::size_t>(blocks)) {}

  std::uint64_t run() {
    for (int k = 0; k < matrix_.blocks(); ++k) {
      Step const step{matrix_, k};
      step.factorise();
      solve(step);
      update(step);
    }
    return matrix_.checksum();
  }

 private:
  void solve(Step const& step) {
    int const n = matrix_.blocks(), k = step.k;
    for (int j = k + 1; j < n; ++j)
      if (step.in_row(j))
        scope_.spawn<solved_row>(owner(k, j), result(k, j), floats(k, k), floats(k, j), side());
    for (int i = k + 1; i < n; ++i)
      if (step.in_column(i))
        scope_.spawn<solved_column>(owner(i, k), result(i, k), floats(k, k), floats(i, k), side());
    scope_.wait();
    for (int i = k + 1; i < n; ++i) {
      if (step.in_row(i)) keep(k, i);
      if (step.in_column(i)) keep(i, k);
    }
  }
  void update(Step const& step) {
    int const n = matrix_.blocks(), k = step.k;
    auto const each = [&](auto const& of) {
      for (int i = k + 1; i < n; ++i)
        for (int j = k + 1; j < n; ++j)
          if (step.in_column(i) && step.in_row(j)) of(i, j);
    };
    each([&](int i, int j) {
      scope_.spawn<updated>(owner(i, j), result(i, j), floats(i, k), floats(k, j), floats(i, j),
                            side());
    });
    scope_.wait();
    each([&](int i, int j) { keep(i, j); });
  }

  // Rows and columns in turn, so that each step is everybody's.
  nigh::cluster::near owner(int row, int column) const noexcept {
    return nigh::cluster::near((row + column) % ranks_);
  }
  int side() const noexcept { return matrix_.side(); }
  Floats& result(int row, int column) noexcept {
    return results_[static_cast<std::size_t>(row) * static_cast<std::size_t>(matrix_.blocks()) +
                    static_cast<std::size_t>(column)];
  }
  Floats floats(int row, int column) const {
    auto const count = static_cast<std::size_t>(side()) * static_cast<std::size_t>(side());
    float const* const block = matrix_.at(row, column);
    return block != nullptr ? Floats(block, block + count) : Floats(count);
  }
  void keep(int row, int column) {
    Floats const block = std::exchange(result(row, column), {});
    std::ranges::copy(block, matrix_.at_or_zeros(row, column));
  }

  Matrix matrix_;
  int const ranks_;
  std::vector<Floats> results_;  // of the phase that runs
  nigh::cluster::task_scope scope_;
};

std::uint64_t factorise(int blocks, int side, int ranks) {
  return Factorisation(blocks, side, ranks).run();
}

std::uint64_t solve_cluster(int blocks, int side, int ranks) {
  return nigh::cluster::run<factorise>(blocks, side, ranks);
}

}  // namespace

}  // namespace sparselu

namespace workloads {

ClusterProblem sparselu_on_ranks() {
  return {"sparselu", [](std::string const& size, int, int ranks) -> std::function<Answer()> {
            auto const x = size.find('x');
            auto const blocks = static_cast<int>(number(size.substr(0, x), 1, 1024));
            auto const side = static_cast<int>(number(size.substr(x + 1), 1, 1024));
            return [=] { return sparselu::solve_cluster(blocks, side, ranks); };
          }};
}

std::span<ClusterProblem const> cluster_problems() {
  static ClusterProblem const all[] = {fib_on_ranks(), nqueens_on_ranks(), uts_on_ranks(),
                                       sparselu_on_ranks()};
  return all;
}

ClusterProblem const* find_cluster_problem(std::string_view name) {
  auto const all = cluster_problems();
  auto const found = std::ranges::find(all, name, &ClusterProblem::name);
  return found != all.end() ? &*found : nullptr;
}

}  // namespace workloads
