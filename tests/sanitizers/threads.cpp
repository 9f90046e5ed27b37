// SPDX-License-Identifier: Apache-2.0
// Features: threads of the program's own beside the workers.
#include <mutex>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/task_scope.hpp>
#include <thread>
#include <vector>

#include "features.hpp"

namespace user {
namespace {

long fib(int n) {
  if (n < 2) return n;
  auto const [left, right] = nigh::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return left + right;
}

// One after the other in the same thread slot, without an order among them.
bool threads_in_turn() {
  std::vector<long> out(8);
  for (auto& o : out) std::thread([&o] { o = fib(10); }).join();
  for (auto const o : out)
    if (o != 55) return false;
  return true;
}

bool threads_at_once() {
  std::vector<long> out(4);
  std::vector<std::thread> threads;
  for (auto& o : out) threads.emplace_back([&o] { for (int round = 0; round < 5; ++round) o += fib(10); });
  for (auto& t : threads) t.join();
  for (auto const o : out)
    if (o != 275) return false;
  return true;
}

// A thread that leaves its slot before another one takes it; the system orders nothing between them.
bool slots_change_hands() {
  meeting first_is_done;
  long before = 0, after = 0;
  std::thread second([&] {
    first_is_done.await(1);
    after = fib(10);
  });
  std::thread first([&] {
    before = fib(10);
    first_is_done.come();
  });
  first.join();
  second.join();
  return before == 55 && after == 55;
}

bool locks_in_tasks() {
  std::mutex lock;
  long total = 0;
  nigh::task_scope scope;
  for (int i = 0; i < 100; ++i)
    scope.spawn([&] {
      std::lock_guard const guard(lock);
      ++total;
    });
  scope.wait();
  return total == 100;
}

bool loops_of_threads() {
  std::vector<long> sums(3);
  std::vector<std::thread> threads;
  for (auto& sum : sums)
    threads.emplace_back([&sum] {
      std::vector<int> v(1000);
      nigh::parallel_for(0, 1000, [&](int i) { v[static_cast<std::size_t>(i)] = i; });
      for (int const x : v) sum += x;
    });
  for (auto& t : threads) t.join();
  return sums == std::vector<long>(3, 499500);
}

constexpr feature all[] = {
    {"threads_in_turn", threads_in_turn},       {"threads_at_once", threads_at_once},
    {"slots_change_hands", slots_change_hands}, {"locks_in_tasks", locks_in_tasks},
    {"loops_of_threads", loops_of_threads},
};

}  // namespace

std::span<feature const> thread_features() { return all; }

}  // namespace user
