// SPDX-License-Identifier: Apache-2.0
// The paper's table of benchmarks says how many tasks were created, how long the mean one took and
// what creating it cost. The number of tasks identifies the program:
//
//   fib        2,692,537    all calls of fib(30)
//   nqueens      306,719    nodes of depth 0 to 6 of the search tree of 14 queens
//   T1L, T3L                nodes of UTS's sample trees
//   sparselu   1,430,912    fwd, bdiv and bmod of 256 x 256 blocks
//
// Its times are used as they are; where tasks differ, in proportion to what they do, so that the
// mean is the paper's.

#include "sim/steal/task_forest.hpp"

#include <numeric>

#include "base/assert.hpp"
#include "shapes/sparselu_blocks.hpp"

namespace nigh::sim {

namespace {

// Of a task: its run, on average, and its creation.
struct Measured {
  Time run_ns, spawn_ns;
};
constexpr Measured fib{1163, 172}, queens{23270, 174}, sparse_lu{6281, 166};
constexpr Measured geometric{89, 162}, cyclic{114, 161}, binomial{75, 159};  // T1L, T2L, T3L

// Numbers tasks in preorder: a task is opened, then those below it, then it is closed.
class Preorder {
 public:
  explicit Preorder(std::vector<std::uint32_t>& size) : size_(size) {}
  TaskId open() {
    size_.push_back(0);
    return static_cast<TaskId>(size_.size() - 1);
  }
  void close(TaskId t) { size_[t] = static_cast<std::uint32_t>(size_.size()) - t; }

 private:
  std::vector<std::uint32_t>& size_;
};

void spawn_fib(Preorder& order, int n) {
  auto const t = order.open();
  if (n >= 2) {
    spawn_fib(order, n - 1);
    spawn_fib(order, n - 2);
  }
  order.close(t);
}

// Queens stand in the first rows; the masks say which columns of the next row are attacked.
struct Queens {
  int n = 0, cutoff = 0;
  Preorder order;
  std::vector<std::uint32_t>& visited;  // [task]: nodes of the search tree that it goes through

  template <class Next>
  void for_safe(std::uint32_t columns, std::uint32_t left, std::uint32_t right, Next next) const {
    std::uint32_t const all = (1U << n) - 1;
    for (auto safe = all & ~(columns | left | right); safe != 0; safe &= safe - 1) {
      auto const queen = safe & (0U - safe);
      next(columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
  }
  std::uint32_t below(int row, std::uint32_t columns, std::uint32_t left,
                      std::uint32_t right) const {
    std::uint32_t nodes = 1;
    if (row < n)
      for_safe(columns, left, right, [&](std::uint32_t c, std::uint32_t l, std::uint32_t r) {
        nodes += below(row + 1, c, l, r);
      });
    return nodes;
  }
  void spawn(int row, std::uint32_t columns, std::uint32_t left, std::uint32_t right) {
    auto const t = order.open();
    visited.push_back(row < cutoff ? 1 : below(row, columns, left, right));
    if (row < cutoff)
      for_safe(columns, left, right,
               [&](std::uint32_t c, std::uint32_t l, std::uint32_t r) { spawn(row + 1, c, l, r); });
    order.close(t);
  }
};

// Costs in these proportions, with this mean.
std::vector<std::uint32_t> scaled(std::vector<std::uint32_t> weights, Time mean_ns) {
  auto const sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  auto const each = static_cast<double>(mean_ns) * static_cast<double>(weights.size()) / sum;
  for (auto& w : weights) w = static_cast<std::uint32_t>(w * each + 0.5);
  return weights;
}

TaskForest tree(std::string name, Time each_ns, Time spawn_ns, int bytes) {
  TaskForest f;
  f.name = std::move(name);
  f.each_ns = each_ns;
  f.spawn_ns = spawn_ns;
  f.bytes = bytes;
  return f;
}

void in_one_phase(TaskForest& f) {
  f.size.shrink_to_fit();
  f.phases = {{0, static_cast<TaskId>(f.tasks()), 0}};
}

}  // namespace

Time TaskForest::work(Time making_ns) const noexcept {
  Time sum = static_cast<Time>(tasks()) * making_ns;
  for (auto const& phase : phases) sum += phase.before_ns;
  if (cost.empty()) return sum + static_cast<Time>(tasks()) * each_ns;
  return std::accumulate(cost.begin(), cost.end(), sum);
}

TaskForest fib_tasks(int n) {
  auto f = tree("fib", fib.run_ns, fib.spawn_ns, 4);
  Preorder order(f.size);
  spawn_fib(order, n);
  in_one_phase(f);
  return f;
}

TaskForest queens_tasks(int n, int cutoff) {
  auto f = tree("nqueens", 0, queens.spawn_ns, 80);
  std::vector<std::uint32_t> visited;
  Queens{n, cutoff, Preorder(f.size), visited}.spawn(0, 0, 0, 0);
  f.cost = scaled(std::move(visited), queens.run_ns);
  in_one_phase(f);
  return f;
}

// A step: the submitter factorises the diagonal block, then all fwd and bdiv of its row and column,
// then all bmod. By operations, a block of b^3: lu0 2/3, fwd and bdiv 1, bmod 2.
TaskForest sparselu_tasks(int blocks) {
  auto f = tree("sparselu", 0, sparse_lu.spawn_ns, 24);
  auto const n = static_cast<std::size_t>(blocks);
  std::vector<bool> present(n * n);
  for (std::size_t i = 0; i < n * n; ++i)
    present[i] = sparselu::present_at_start(static_cast<int>(i / n), static_cast<int>(i % n));
  std::vector<std::uint32_t> weights;
  auto const phase = [&](std::size_t tasks, std::uint32_t weight) {
    auto const begin = static_cast<TaskId>(weights.size());
    weights.resize(weights.size() + tasks, weight);
    f.phases.push_back({begin, static_cast<TaskId>(weights.size()), 0});
  };
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<std::size_t> row, column;
    for (std::size_t i = k + 1; i < n; ++i) {
      if (present[k * n + i]) row.push_back(i);
      if (present[i * n + k]) column.push_back(i);
    }
    phase(row.size() + column.size(), 1);
    phase(row.size() * column.size(), 2);
    for (std::size_t i : column)
      for (std::size_t j : row) present[i * n + j] = true;
  }
  f.size.assign(weights.size(), 1);
  f.any_submits = true;
  f.cost = scaled(std::move(weights), sparse_lu.run_ns);
  auto const lu0 = static_cast<Time>(f.cost.empty() ? 0 : f.cost.front()) * 2 / 3;
  for (std::size_t p = 0; p < f.phases.size(); p += 2) f.phases[p].before_ns = lu0;
  return f;
}

TaskForest uts_tasks(std::string name, uts::Tree const& shape) {
  auto const [run_ns, spawn_ns] = shape.kind == uts::Kind::binomial   ? binomial
                                  : shape.shape == uts::Shape::cyclic ? cyclic
                                                                      : geometric;
  auto f = tree(std::move(name), run_ns, spawn_ns, 32);
  struct Open {
    uts::Node node;
    TaskId task;
    int children, next;
  };
  Preorder order(f.size);
  std::vector<Open> path;  // from the root; thousands deep in binomial trees
  auto const enter = [&](uts::Node const& node) {
    path.push_back({node, order.open(), uts::children_of(shape, node), 0});
  };
  enter(uts::root_of(shape));
  while (!path.empty()) {
    auto& last = path.back();
    if (last.next < last.children) {
      enter(uts::child_of(last.node, last.next++));
    } else {
      order.close(last.task);
      path.pop_back();
    }
  }
  in_one_phase(f);
  return f;
}

std::vector<std::string> uts_names() {
  std::vector<std::string> names;
  for (auto const& known : uts::known_trees()) names.emplace_back(known.name);
  return names;
}

std::vector<std::string> paper_names() {
  auto names = uts_names();
  names.insert(names.begin(), {"fib", "nqueens", "sparselu"});
  return names;
}

TaskForest paper_tasks(std::string const& name) {
  if (name == "fib") return fib_tasks(30);
  if (name == "nqueens") return queens_tasks(14, 6);
  if (name == "sparselu") return sparselu_tasks(256);
  auto const* const known = uts::find_tree(name);
  return known == nullptr ? TaskForest() : uts_tasks(name, known->tree);
}

}  // namespace nigh::sim
