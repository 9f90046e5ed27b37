// SPDX-License-Identifier: Apache-2.0
// Features: tasks, from fork_join to queues.
#include <array>
#include <memory>
#include <nigh/blocking_scope.hpp>
#include <nigh/child_task.hpp>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <nigh/stop_token.hpp>
#include <nigh/task_handle.hpp>
#include <nigh/task_scope.hpp>
#include <nigh/typed_task.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "features.hpp"

namespace user {
namespace {

std::vector<int> filled(int n, int value) { return std::vector<int>(static_cast<std::size_t>(n), value); }
long sum_of(std::vector<int> const& v) { return std::accumulate(v.begin(), v.end(), 0L); }

// The second function reads what was written before the fork, and is stolen; its result comes back.
bool fork_join() {
  bool good = true;
  for (int round = 0; round < 20; ++round) {
    auto input = filled(100, round);
    meeting both;
    auto const [left, right] = nigh::fork_join(
        [&] {
          both.await(1);
          return sum_of(input);
        },
        [&] {
          both.come();
          auto doubled = input;
          for (int& x : doubled) x *= 2;
          return doubled;
        });
    input[0] = -1;  // nobody reads it any more
    good = good && left == 100 * round && sum_of(right) == 200 * round;
  }
  return good;
}

bool fork_join_of_many() {
  std::array<int, 4> seen{};
  meeting all;
  auto const visit = [&](std::size_t n) {
    all.come();
    all.await(2);
    seen[n] = static_cast<int>(n) + 1;
  };
  nigh::fork_join([&] { visit(0); }, [&] { visit(1); }, [&] { visit(2); }, [&] { visit(3); });
  return seen == std::array<int, 4>{1, 2, 3, 4};
}

long fib(int n) {
  if (n < 2) return n;
  auto const [left, right] = nigh::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return left + right;
}
bool deep_forks() { return fib(16) == 987; }

bool fork_join_exception() {
  meeting both;
  try {
    nigh::fork_join([&] { both.await(1); },
                    [&] {
                      both.come();
                      throw std::runtime_error("from the second function");
                    });
  } catch (std::runtime_error const& e) {
    return std::string(e.what()) == "from the second function";
  }
  return false;
}

bool child_task() {
  return nigh::default_runtime().invoke([] {
    auto text = std::string(100, 'a');
    meeting both;
    nigh::child_task child([&] {
      both.come();
      return text + "b";
    });
    both.await(1);
    auto const made = child.join();
    text = "changed";
    return made.size() == 101;
  });
}

meeting* typed_meeting = nullptr;
long typed(nigh::task_context&, std::vector<int> const* v) {
  typed_meeting->come();
  return sum_of(*v);
}
bool typed_task() {
  meeting both;
  typed_meeting = &both;
  return nigh::default_runtime().invoke([&] {
    auto& at = nigh::this_task_context();
    auto input = filled(50, 3);
    nigh::typed_task<typed> task(at, &input);
    both.await(1);
    auto const sum = task.join(at);
    input[0] = 1;
    return sum == 150;
  });
}

// Closures that fit a slot, and others, which lie on the heap; slots are used again and again.
bool scope_spawn() {
  long total = 0;
  for (int round = 0; round < 10; ++round) {
    std::array<long, 64> out{};
    auto const input = filled(64, round);
    meeting some;
    nigh::task_scope scope;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (i % 2 == 0)
        scope.spawn([&, i] {
          some.come();
          out[i] = input[i];
        });
      else
        scope.spawn([&, i, copy = input, note = std::string("a text that is too long for its object")] {
          some.come();
          out[i] = copy[i] + static_cast<long>(note.size()) - 38;
        });
    }
    some.await(2);
    scope.wait();
    total += std::accumulate(out.begin(), out.end(), 0L);
  }
  return total == 64 * 45;
}

void tree(nigh::task_scope& scope, std::vector<int>& seen, std::size_t at) {
  seen[at] = 1;
  for (auto const child : {2 * at + 1, 2 * at + 2})
    if (child < seen.size()) scope.spawn([&scope, &seen, child] { tree(scope, seen, child); });
}
bool scope_tree() {
  auto seen = filled(1000, 0);
  nigh::task_scope scope;
  scope.spawn([&] { tree(scope, seen, 0); });
  scope.wait();
  return sum_of(seen) == 1000;
}

bool scope_near() {
  std::array<long, 40> out{};
  auto input = filled(40, 1);
  auto const shared = std::make_shared<std::vector<int>>(input);
  nigh::task_scope scope;
  for (int round = 0; round < 5; ++round) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      scope.spawn(nigh::near(0), [&out, &input, i] { out[i] += input[i]; });
      scope.spawn(nigh::near(0), [shared, i] { static_cast<void>((*shared)[i]); });
    }
    scope.wait();
    for (int& x : input) ++x;  // all tasks have run
  }
  return std::accumulate(out.begin(), out.end(), 0L) == 40 * 15;
}

bool scope_exception() {
  nigh::task_scope scope({.rule = nigh::on_exception::cancel});
  meeting begun;
  scope.spawn([&] {
    begun.come();
    throw std::runtime_error("from a task");
  });
  begun.await(1);
  for (int i = 0; i < 100; ++i) scope.spawn([] {});
  try {
    scope.wait();
  } catch (std::runtime_error const& e) {
    return std::string(e.what()) == "from a task";
  }
  return false;
}

bool stop() {
  nigh::task_scope scope;
  meeting begun;
  int rounds = 0;
  scope.spawn([&, token = scope.token()] {
    begun.come();
    for (auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
         !token.stop_requested() && std::chrono::steady_clock::now() < end;)
      ++rounds;
  });
  begun.await(1);
  scope.request_stop();
  scope.wait();
  return ++rounds > 0;
}

// Results of tasks that other threads run: of one, and of a diamond whose middle ones share the first one's.
bool handles() {
  long sum = 0;
  for (int round = 0; round < 10; ++round) {
    auto input = filled(20, round);
    meeting begun;
    nigh::task_scope scope;
    auto const first = scope.async([&] {
      begun.come();
      return std::make_unique<long>(sum_of(input));
    });
    begun.await(1);
    if (round % 2 == 0) sum -= *first.get();
    meeting both;
    auto const middle = [&](long factor) {
      both.come();
      both.await(2);
      return std::vector<long>(3, factor * *first.get());
    };
    auto const left = scope.async(nigh::after(first), [&] { return middle(1); });
    auto const right = scope.async(nigh::after(first), [&] { return middle(2); });
    auto const last = scope.async(nigh::after(left, right), [left, right] { return left.get()[0] + right.get()[2]; });
    sum += last.get();
    if (round % 2 != 0) sum -= *first.get();
    input[0] = -1;  // nobody reads it any more
  }
  return sum == 40 * 45;
}

bool queued_tasks() {
  nigh::runtime pool({.workers = 1});
  auto input = filled(100, 1);
  std::vector<long> out(100);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < out.size(); ++i) pool.spawn([&, i] { out[i] += input[i]; });
    pool.wait();
    for (int& x : input) ++x;
  }
  pool.run([&] { out[0] += sum_of(input); });
  try {
    pool.run([] { throw std::runtime_error("queued"); });
  } catch (std::runtime_error const&) {
    return std::accumulate(out.begin(), out.end(), 0L) == 100 * 6 + 400;
  }
  return false;
}

bool runtime_invoke() {
  nigh::runtime pool({.workers = 2});
  auto input = filled(10, 1);
  long sum = 0;
  for (int round = 0; round < 20; ++round) {
    meeting both;
    sum += pool.invoke([&] {
      auto const [left, right] = nigh::fork_join([&] { return both.await(1) ? 0L : 0L; },
                                                 [&] {
                                                   both.come();
                                                   return sum_of(input);
                                                 });
      return left + right;
    });
    ++input[0];
  }
  return sum == 200 + 190;
}

// A task writes, then blocks; its backup thread runs other tasks meanwhile.
bool blocking() {
  nigh::runtime pool({.workers = 1});
  std::vector<int> out(8);
  pool.run([&] {
    nigh::task_scope scope;
    meeting some;
    for (std::size_t i = 0; i < out.size(); ++i)
      scope.spawn([&, i] {
        out[i] = 1;
        some.come();
      });
    {
      nigh::blocking_scope const wait;
      some.await(1);
    }
    scope.wait();
    for (int& x : out) ++x;
  });
  return sum_of(out) == 16;
}

constexpr feature all[] = {
    {"fork_join", fork_join},
    {"fork_join_of_many", fork_join_of_many},
    {"deep_forks", deep_forks},
    {"fork_join_exception", fork_join_exception},
    {"child_task", child_task},
    {"typed_task", typed_task},
    {"scope_spawn", scope_spawn},
    {"scope_tree", scope_tree},
    {"scope_near", scope_near},
    {"scope_exception", scope_exception},
    {"stop", stop},
    {"handles", handles},
    {"queued_tasks", queued_tasks},
    {"runtime_invoke", runtime_invoke},
    {"blocking", blocking},
};

}  // namespace

std::span<feature const> task_features() { return all; }

}  // namespace user
