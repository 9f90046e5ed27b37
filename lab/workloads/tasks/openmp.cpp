// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include "tasks/fib.hpp"
#include "tasks/nqueens.hpp"
#include "tasks/sort.hpp"
#include "tasks/sparselu.hpp"
#include "tasks/strassen.hpp"
#include "tasks/uts.hpp"
#include "workloads/team.hpp"

namespace workloads {

namespace {

class OpenMP : public Team {
 public:
  explicit OpenMP(TeamOptions options) : options_(std::move(options)) {}

  // libgomp ends threads that a smaller region has no use for, so they are pinned in each region.
  void run(std::function<void()> const& body) override {
#pragma omp parallel num_threads(options_.threads())
    {
      options_.pin_thread(omp_get_thread_num());
#pragma omp single
      body();
    }
  }

 private:
  TeamOptions options_;
};

}  // namespace

std::unique_ptr<Team> make_openmp_team(TeamOptions const& options) {
  return std::make_unique<OpenMP>(options);
}

}  // namespace workloads

namespace fib {

namespace {

std::uint64_t spawn(int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  std::uint64_t a = 0;
#pragma omp task untied shared(a) firstprivate(n)
  a = spawn(n - 1);
  std::uint64_t const b = spawn(n - 2);
#pragma omp taskwait
  return a + b;
}

std::uint64_t spawn_above(int n, int levels) {
  if (n < 2 || levels == 0) return serial(n);
  std::uint64_t a = 0;
#pragma omp task untied shared(a) firstprivate(n, levels)
  a = spawn_above(n - 1, levels - 1);
  std::uint64_t const b = spawn_above(n - 2, levels - 1);
#pragma omp taskwait
  return a + b;
}

}  // namespace

std::uint64_t solve_openmp(Config const& config) {
  return config.cutoff > 0 ? spawn_above(config.n, config.cutoff) : spawn(config.n);
}

}  // namespace fib

namespace nqueens {

namespace {

std::uint64_t search(Board const board) {
  if (board.full()) return 1;
  if (board.rows >= board.cutoff) return serial(board);
  Found found;
  int children = 0;
  for (int c = 0; c < board.n; ++c) {
    if (!board.safe(c)) continue;
    std::uint64_t& result = found.of(children++);
#pragma omp task untied firstprivate(board, c) shared(result)
    result = search(board.with(c));
  }
#pragma omp taskwait
  return found.sum(children);
}

}  // namespace

std::uint64_t solve_openmp(Config const& config) { return search(empty_board(config)); }

}  // namespace nqueens

namespace uts {

namespace {

template <int most>
std::uint64_t explore(Config const& config, Node const& node) {
  if (below_cutoff(config, node)) return serial(config.tree, node);
  int const children = children_of(config.tree, node);
  if (children == 0) return 1;
  Found<most> found(children);
  for (int c = 0; c < children; ++c) {
#pragma omp task untied firstprivate(c) shared(config, node, found)
    found.of(c) = explore<most>(config, child_of(node, c));
  }
#pragma omp taskwait
  return 1 + found.sum();
}

}  // namespace

std::uint64_t solve_openmp(Config const& config) {
  Node const root = root_of(config.tree);
  return config.tree.kind == Kind::binomial ? explore<most_binomial_children>(config, root)
                                            : explore<most_children>(config, root);
}

}  // namespace uts

namespace sparselu {

void solve_openmp(Matrix& matrix) {
  int const n = matrix.blocks();
  for (int k = 0; k < n; ++k) {
    Step const step{matrix, k};
    step.factorise();
    for (int j = k + 1; j < n; ++j)
      if (step.in_row(j)) {
#pragma omp task untied firstprivate(step, j)
        step.solve_row(j);
      }
    for (int i = k + 1; i < n; ++i)
      if (step.in_column(i)) {
#pragma omp task untied firstprivate(step, i)
        step.solve_column(i);
      }
#pragma omp taskwait
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j)
        if (step.in_column(i) && step.in_row(j)) {
#pragma omp task untied firstprivate(step, i, j)
          step.update(i, j);
        }
#pragma omp taskwait
  }
}

}  // namespace sparselu

namespace strassen {

void solve_openmp(Square c, Square a, Square b) {
  if (c.rows <= leaf_rows) return multiply(c, a, b);
  Step const step(c, a, b);
  for (int p = 0; p < Step::products; ++p) {
#pragma omp task untied firstprivate(p) shared(step)
    step.product(p, solve_openmp);
  }
#pragma omp taskwait
  step.combine();
}

}  // namespace strassen

namespace sort {

namespace {

void merge(Merge const m) {
  if (m.small()) return m.run();
  MergeHalves const h = halves(m);
#pragma omp task untied shared(h)
  merge(h.low);
  merge(h.high);
#pragma omp taskwait
}

void mergesort(Numbers numbers, Numbers space, bool away) {
  if (numbers.size() <= leaf) {
    sort_leaf(numbers);
    if (away) std::copy(numbers.begin(), numbers.end(), space.begin());
    return;
  }
  Halves const n = halves(numbers), s = halves(space);
#pragma omp task untied shared(n, s) firstprivate(away)
  mergesort(n.low, s.low, !away);
  mergesort(n.high, s.high, !away);
#pragma omp taskwait
  merge(away ? Merge{n.low, n.high, space} : Merge{s.low, s.high, numbers});
}

}  // namespace

void mergesort_openmp(Numbers numbers, Numbers space) { mergesort(numbers, space, false); }

void quicksort_openmp(Numbers numbers) {
  if (numbers.size() <= leaf) return sort_leaf(numbers);
  Halves const parts = partition(numbers);
#pragma omp task untied shared(parts)
  quicksort_openmp(parts.low);
  quicksort_openmp(parts.high);
#pragma omp taskwait
}

}  // namespace sort
