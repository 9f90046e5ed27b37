// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include "tasks/fib.hpp"
#include "tasks/nqueens.hpp"
#include "tasks/sort.hpp"
#include "tasks/sparselu.hpp"
#include "tasks/strassen.hpp"
#include "tasks/uts.hpp"
#include "workloads/team.hpp"

namespace workloads {

namespace {

namespace tbb = oneapi::tbb;

// Pins whoever enters the arena to the cpu of the slot it takes there.
class PinSlots : public tbb::task_scheduler_observer {
 public:
  PinSlots(tbb::task_arena& arena, TeamOptions options)
      : task_scheduler_observer(arena), options_(std::move(options)) {
    if (options_.pin) observe(true);
  }
  ~PinSlots() override { observe(false); }

  void on_scheduler_entry(bool) override {
    int const slot = tbb::this_task_arena::current_thread_index();
    if (slot < options_.threads()) options_.pin_thread(slot);
  }

 private:
  TeamOptions options_;
};

// A thread that waits takes up whatever task it finds, on top of its own stack: UTS needs depth.
constexpr std::size_t stack_bytes = std::size_t{1} << 30;

// Each arena has its own number of threads. The limit for all of them together would otherwise be
// counted from the cpus of the thread that uses oneTBB first, and that one may be pinned.
constexpr std::size_t no_limit = 1024;

class Arena : public Team {
 public:
  explicit Arena(TeamOptions const& options)
      : stack_(tbb::global_control::thread_stack_size, stack_bytes),
        limit_(tbb::global_control::max_allowed_parallelism, no_limit),
        arena_(options.threads()),
        pins_(arena_, options) {}

  void run(std::function<void()> const& body) override { arena_.execute(body); }

 private:
  tbb::global_control stack_, limit_;
  tbb::task_arena arena_;
  PinSlots pins_;
};

}  // namespace

std::unique_ptr<Team> make_tbb_team(TeamOptions const& options) {
  return std::make_unique<Arena>(options);
}

}  // namespace workloads

namespace fib {

namespace {

std::uint64_t spawn(int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  std::uint64_t a = 0;
  oneapi::tbb::task_group group;
  group.run([&a, n] { a = spawn(n - 1); });
  std::uint64_t const b = spawn(n - 2);
  group.wait();
  return a + b;
}

std::uint64_t spawn_above(int n, int levels) {
  if (n < 2 || levels == 0) return serial(n);
  std::uint64_t a = 0;
  oneapi::tbb::task_group group;
  group.run([&a, n, levels] { a = spawn_above(n - 1, levels - 1); });
  std::uint64_t const b = spawn_above(n - 2, levels - 1);
  group.wait();
  return a + b;
}

}  // namespace

std::uint64_t solve_tbb(Config const& config) {
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
  oneapi::tbb::task_group group;
  for (int c = 0; c < board.n; ++c) {
    if (!board.safe(c)) continue;
    std::uint64_t& result = found.of(children++);
    group.run([board, c, &result] { result = search(board.with(c)); });
  }
  group.wait();
  return found.sum(children);
}

}  // namespace

std::uint64_t solve_tbb(Config const& config) { return search(empty_board(config)); }

}  // namespace nqueens

namespace uts {

namespace {

template <int most>
std::uint64_t explore(Config const& config, Node const& node) {
  if (below_cutoff(config, node)) return serial(config.tree, node);
  int const children = children_of(config.tree, node);
  if (children == 0) return 1;
  Found<most> found(children);
  oneapi::tbb::task_group group;
  for (int c = 0; c < children; ++c)
    group.run([&, c] { found.of(c) = explore<most>(config, child_of(node, c)); });
  group.wait();
  return 1 + found.sum();
}

}  // namespace

std::uint64_t solve_tbb(Config const& config) {
  Node const root = root_of(config.tree);
  return config.tree.kind == Kind::binomial ? explore<most_binomial_children>(config, root)
                                            : explore<most_children>(config, root);
}

}  // namespace uts

namespace sparselu {

void solve_tbb(Matrix& matrix) {
  int const n = matrix.blocks();
  oneapi::tbb::task_group tasks;
  for (int k = 0; k < n; ++k) {
    Step const step{matrix, k};
    step.factorise();
    for (int j = k + 1; j < n; ++j)
      if (step.in_row(j)) tasks.run([step, j] { step.solve_row(j); });
    for (int i = k + 1; i < n; ++i)
      if (step.in_column(i)) tasks.run([step, i] { step.solve_column(i); });
    tasks.wait();
    for (int i = k + 1; i < n; ++i)
      for (int j = k + 1; j < n; ++j)
        if (step.in_column(i) && step.in_row(j)) tasks.run([step, i, j] { step.update(i, j); });
    tasks.wait();
  }
}

}  // namespace sparselu

namespace strassen {

void solve_tbb(Square c, Square a, Square b) {
  if (c.rows <= leaf_rows) return multiply(c, a, b);
  Step const step(c, a, b);
  auto const product = [&step](int p) { return [&step, p] { step.product(p, solve_tbb); }; };
  oneapi::tbb::parallel_invoke(product(0), product(1), product(2), product(3), product(4),
                               product(5), product(6));
  step.combine();
}

}  // namespace strassen

namespace sort {

namespace {

using oneapi::tbb::parallel_invoke;

void merge(Merge const m) {
  if (m.small()) return m.run();
  MergeHalves const h = halves(m);
  parallel_invoke([&h] { merge(h.low); }, [&h] { merge(h.high); });
}

void mergesort(Numbers numbers, Numbers space, bool away) {
  if (numbers.size() <= leaf) {
    sort_leaf(numbers);
    if (away) std::copy(numbers.begin(), numbers.end(), space.begin());
    return;
  }
  Halves const n = halves(numbers), s = halves(space);
  parallel_invoke([&] { mergesort(n.low, s.low, !away); },
                  [&] { mergesort(n.high, s.high, !away); });
  merge(away ? Merge{n.low, n.high, space} : Merge{s.low, s.high, numbers});
}

}  // namespace

void mergesort_tbb(Numbers numbers, Numbers space) { mergesort(numbers, space, false); }

void quicksort_tbb(Numbers numbers) {
  if (numbers.size() <= leaf) return sort_leaf(numbers);
  Halves const parts = partition(numbers);
  parallel_invoke([&parts] { quicksort_tbb(parts.low); }, [&parts] { quicksort_tbb(parts.high); });
}

}  // namespace sort
