// SPDX-License-Identifier: Apache-2.0
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_loop.hpp>
#include <nigh/task_scope.hpp>
#include <nigh/typed_task.hpp>
#include <vector>

#include "tasks/fib.hpp"
#include "tasks/nqueens.hpp"
#include "tasks/sort.hpp"
#include "tasks/sparselu.hpp"
#include "tasks/strassen.hpp"
#include "tasks/uts.hpp"
#include "workloads/team.hpp"

namespace workloads {

namespace {

class Workers : public Team {
 public:
  explicit Workers(TeamOptions const& options) : runtime_(runtime_options(options)) {}

  void run(std::function<void()> const& body) override { runtime_.run(body); }

 private:
  static nigh::runtime_options runtime_options(TeamOptions const& options) {
    nigh::runtime_options o;
    o.machine = options.machine;
    o.workers = options.threads();
    return o;
  }

  nigh::runtime runtime_;
};

}  // namespace

std::unique_ptr<Team> make_nigh_team(TeamOptions const& options) {
  return std::make_unique<Workers>(options);
}

}  // namespace workloads

namespace fib {

namespace {

std::uint64_t spawn(int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  auto const [a, b] = nigh::fork_join([n] { return spawn(n - 1); }, [n] { return spawn(n - 2); });
  return a + b;
}

std::uint64_t spawn_above(int n, int levels) {
  if (n < 2 || levels == 0) return serial(n);
  auto const [a, b] = nigh::fork_join([=] { return spawn_above(n - 1, levels - 1); },
                                      [=] { return spawn_above(n - 2, levels - 1); });
  return a + b;
}

}  // namespace

std::uint64_t solve_nigh(Config const& config) {
  return config.cutoff > 0 ? spawn_above(config.n, config.cutoff) : spawn(config.n);
}

}  // namespace fib

namespace nqueens {

namespace {

std::uint64_t search(nigh::task_context& at, Board board);

// Ways to fill the board with the next queen in column c or further right: the first safe placement
// here and now, the others as a task.
std::uint64_t search_from(nigh::task_context& at, Board board, int c) {
  while (c < board.n && !board.safe(c)) ++c;
  if (c == board.n) return 0;
  Board const child = board.with(c);
  nigh::typed_task<search_from> further(at, board, c + 1);
  auto const here = child.full() ? 1 : search(at, child);
  return here + further.join(at);
}

std::uint64_t search(nigh::task_context& at, Board const board) {
  return board.rows >= board.cutoff ? serial(board) : search_from(at, board, 0);
}

}  // namespace

std::uint64_t solve_nigh(Config const& config) {
  return search(nigh::this_task_context(), empty_board(config));
}

}  // namespace nqueens

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

namespace sparselu {

void solve_nigh(Matrix& matrix) {
  int const n = matrix.blocks();
  nigh::task_scope tasks;
  for (int k = 0; k < n; ++k) {
    Step const step{matrix, k};
    step.factorise();
    for (int j = k + 1; j < n; ++j)
      if (step.in_row(j)) tasks.spawn([step, j] { step.solve_row(j); });
    for (int i = k + 1; i < n; ++i)
      if (step.in_column(i)) tasks.spawn([step, i] { step.solve_column(i); });
    tasks.wait();
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j)
        if (step.in_column(i) && step.in_row(j)) tasks.spawn([step, i, j] { step.update(i, j); });
    tasks.wait();
  }
}

}  // namespace sparselu

namespace strassen {

void solve_nigh(Square c, Square a, Square b) {
  if (c.rows <= leaf_rows) return multiply(c, a, b);
  Step const step(c, a, b);
  auto const product = [&step](int p) { return [&step, p] { step.product(p, solve_nigh); }; };
  nigh::fork_join(product(0), product(1), product(2), product(3), product(4), product(5),
                  product(6));
  step.combine();
}

}  // namespace strassen

namespace sort {

namespace {

using nigh::fork_join;

void merge(Merge const m) {
  if (m.small()) return m.run();
  MergeHalves const h = halves(m);
  fork_join([&h] { merge(h.low); }, [&h] { merge(h.high); });
}

void mergesort(Numbers numbers, Numbers space, bool away) {
  if (numbers.size() <= leaf) {
    sort_leaf(numbers);
    if (away) std::copy(numbers.begin(), numbers.end(), space.begin());
    return;
  }
  Halves const n = halves(numbers), s = halves(space);
  fork_join([&] { mergesort(n.low, s.low, !away); }, [&] { mergesort(n.high, s.high, !away); });
  merge(away ? Merge{n.low, n.high, space} : Merge{s.low, s.high, numbers});
}

}  // namespace

void mergesort_nigh(Numbers numbers, Numbers space) { mergesort(numbers, space, false); }

void quicksort_nigh(Numbers numbers) {
  if (numbers.size() <= leaf) return sort_leaf(numbers);
  Halves const parts = partition(numbers);
  fork_join([&parts] { quicksort_nigh(parts.low); }, [&parts] { quicksort_nigh(parts.high); });
}

}  // namespace sort

namespace sparselu {

void solve_on_teams(Matrix& matrix, nigh::task_loop_options const& options) {
  int const n = matrix.blocks();
  std::vector<int> rows, columns;
  for (int k = 0; k < n; ++k) {
    Step const step{matrix, k};
    step.factorise();
    rows.clear(), columns.clear();
    for (int i = k + 1; i < n; ++i) {
      if (step.in_column(i)) rows.push_back(i);
      if (step.in_row(i)) columns.push_back(i);
    }
    std::size_t const solves = rows.size() + columns.size();
    nigh::parallel_for(std::size_t{0}, solves, [&](std::size_t s) {
      if (s < rows.size())
        step.solve_column(rows[s]);
      else
        step.solve_row(columns[s - rows.size()]);
    });
    nigh::task_loop(
        rows.size(),
        [&](std::size_t row, nigh::team const& team) {
          team.parallel_for(std::size_t{0}, columns.size(),
                            [&](std::size_t column) { step.update(rows[row], columns[column]); });
        },
        options);
  }
}

}  // namespace sparselu
