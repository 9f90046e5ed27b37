// SPDX-License-Identifier: Apache-2.0
// per_worker: a value for each thread, wherever the thread comes from.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <nigh/blocking_scope.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/per_worker.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/thread_number.hpp"
#include "synthetic.hpp"

namespace {

using nigh::per_worker;
using nigh::runtime;

auto const four_cores = nigh::tests::synthetic("pack:1 numa:1 core:4 pu:1");
nigh::runtime_options four_workers() { return {.machine = &four_cores}; }

TEST(PerWorker, AddsUpALoop) {
  runtime rt(four_workers());
  per_worker<std::int64_t> sums;
  EXPECT_TRUE(sums.empty());
  nigh::parallel_for(0, 100'000, [&](int i) { sums.local() += i; }, {.where = &rt});
  EXPECT_EQ(sums.combine(std::plus<>()), 4'999'950'000);
  EXPECT_EQ(sums.combine(std::plus<>()), 4'999'950'000);  // the values have stayed
  EXPECT_GE(sums.size(), 1u);
  EXPECT_LE(sums.size(), 5u);  // four workers and the caller
  std::int64_t again = 0;
  sums.for_each([&](std::int64_t& value) { again += std::exchange(value, 0); });
  EXPECT_EQ(again, 4'999'950'000);
  EXPECT_EQ(std::as_const(sums).combine(std::plus<>()), 0);
  sums.clear();
  EXPECT_EQ(sums.size(), 0u);
}

// make() may wait, and so run a task of the same thread, which then has made the value already.
TEST(PerWorker, KeepsTheValueOfATaskThatMakeRuns) {
  auto const one_cpu = nigh::tests::synthetic("pack:1 numa:1 core:1 pu:1");
  runtime rt({.machine = &one_cpu});
  int last = 0;
  rt.run([&] {
    nigh::task_scope outer;
    per_worker<int> counts([&] {
      outer.wait();
      return 0;
    });
    outer.spawn([&] { ++counts.local(); });
    ++counts.local();
    last = counts.local();
  });
  EXPECT_EQ(last, 2);
}

// At the end of its thread, after all that nigh has there.
struct LastWord {
  per_worker<int>* counts = nullptr;
  ~LastWord() {
    if (counts != nullptr) ++counts->local();
  }
};
TEST(PerWorker, CountsInDestructorsOfThreadLocalVariables) {
  per_worker<int> counts;
  constexpr int threads = nigh::detail::thread_numbers + 50;
  for (int i = 0; i < threads; ++i)
    std::thread([&] {
      thread_local LastWord last;
      last.counts = &counts;
      ++counts.local();
    }).join();
  EXPECT_EQ(counts.combine(std::plus<>()), 2 * threads);
}

TEST(PerWorker, BeginsAsAsked) {
  per_worker<int> zero, copies(7);
  per_worker made([] { return std::make_unique<int>(3); });
  per_worker<std::atomic<int>> cannot_move;
  EXPECT_EQ(zero.local(), 0);
  EXPECT_EQ(copies.local(), 7);
  EXPECT_EQ(*made.local(), 3);
  EXPECT_EQ(cannot_move.local().load(), 0);
  bool existed = false;
  copies.local(existed);
  EXPECT_TRUE(existed);
  copies.clear();
  copies.local(existed);
  EXPECT_FALSE(existed);
  per_worker<int> unused(9);
  EXPECT_EQ(unused.combine(std::plus<>()), 9);  // as one that nobody has changed
}

TEST(PerWorker, TwoValuesShareNoLine) {
  per_worker<char> flags;
  std::vector<std::uintptr_t> at;
  std::barrier together(3);
  std::mutex lock;
  auto const look = [&] {
    auto const here = reinterpret_cast<std::uintptr_t>(&flags.local());
    {
      std::lock_guard const guard(lock);
      at.push_back(here);
    }
    together.arrive_and_wait();
  };
  std::thread one(look), two(look);
  look();
  one.join(), two.join();
  ASSERT_EQ(flags.size(), 3u);
  for (std::size_t i = 0; i < at.size(); ++i) {
    EXPECT_EQ(at[i] % 128, 0u);
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(at[i], at[j]);
  }
}

// Workers of two runtimes have the same indices, but not the same values: a plain increment in both
// at once would be lost, and be a race for the thread sanitizer.
TEST(PerWorker, RuntimesWithinRuntimes) {
  runtime outer(four_workers()), inner(four_workers());
  per_worker<int> counts;
  nigh::parallel_for(0, 40,
                     [&](int) {
                       ++counts.local();
                       nigh::parallel_for(0, 25, [&](int) { ++counts.local(); }, {.where = &inner});
                       ++counts.local();
                     },
                     {.where = &outer});
  EXPECT_EQ(counts.combine(std::plus<>()), 40 * 27);
}

TEST(PerWorker, ThreadsFromOutsideAndBackupThreads) {
  runtime rt(nigh::runtime_options{.machine = &four_cores, .workers = 1});
  per_worker<int> counts;
  std::vector<std::thread> callers;
  for (int t = 0; t < 70; ++t)  // more than the runtime has slots for external threads
    callers.emplace_back([&] {
      ++counts.local();  // of no runtime
      nigh::task_scope scope(rt);
      for (int i = 0; i < 20; ++i) scope.spawn([&] { ++counts.local(); });
    });
  rt.run([&] {
    nigh::blocking_scope const blocked;  // its backup thread works meanwhile
    ++counts.local();
    for (auto& caller : callers) caller.join();
  });
  EXPECT_EQ(counts.combine(std::plus<>()), 70 * 21 + 1);
}

TEST(PerWorker, AThrowingConstructorLeavesNothing) {
  std::atomic<int> calls{0};
  static std::atomic<int> living{0};
  struct Counted {
    Counted() { ++living; }
    ~Counted() { --living; }
  };
  struct Fussy {
    Counted counted;
    explicit Fussy(std::atomic<int>& n) {
      if (n++ < 2) throw std::runtime_error("not yet");
    }
  };
  {
    per_worker<Fussy> values([&] { return Fussy(calls); });
    EXPECT_THROW(values.local(), std::runtime_error);
    EXPECT_THROW(values.local(), std::runtime_error);
    EXPECT_EQ(values.size(), 0u);
    EXPECT_EQ(living.load(), 0);
    values.local();
    values.local();
    EXPECT_EQ(calls.load(), 3);
    EXPECT_EQ(living.load(), 1);

    runtime rt(four_workers());
    per_worker<int> never([]() -> int { throw std::runtime_error("never"); });
    EXPECT_THROW(nigh::parallel_for(0, 100, [&](int) { never.local(); }, {.where = &rt}),
                 std::runtime_error);
    EXPECT_EQ(never.size(), 0u);
  }
  EXPECT_EQ(living.load(), 0);
}

// A thread's number goes on to a later one, with its value.
TEST(PerWorker, EndedThreadsGiveTheirSlotsBack) {
  per_worker<int> counts;
  constexpr int threads = per_worker<int>::slots + 100;
  for (int i = 0; i < threads; ++i) std::thread([&] { ++counts.local(); }).join();
  EXPECT_EQ(counts.combine(std::plus<>()), threads);
  EXPECT_LE(counts.size(), 8u);
}

TEST(PerWorker, SaysWhenThereAreMoreThreadsThanSlots) {
  per_worker<int> values;
  values.local() = 1;
  std::mutex hold;
  std::atomic<int> holding{0}, refused{0};
  hold.lock();
  std::vector<std::thread> threads;
  auto const all = static_cast<std::size_t>(per_worker<int>::slots) + 8;
  try {
    while (threads.size() < all)
      threads.emplace_back([&] {
        try {
          values.local() = 1;
          ++holding;
        } catch (std::length_error const& e) {
          EXPECT_EQ(std::string(e.what()),
                    "nigh::per_worker: 2048 threads have a value already: there is no slot for "
                    "another one");
          ++refused;
        }
        std::lock_guard const wait(hold);
      });
  } catch (std::system_error const&) {  // so many threads are not allowed here
  }
  while (holding + refused < static_cast<int>(threads.size())) std::this_thread::yield();
  hold.unlock();
  for (auto& thread : threads) thread.join();
  if (threads.size() < all) GTEST_SKIP() << "the system has room for few threads";
  EXPECT_GE(refused.load(), 8);
  EXPECT_LE(values.size(), static_cast<std::size_t>(per_worker<int>::slots));
  std::thread([&] { EXPECT_NO_THROW(values.local()); }).join();  // there is room again
}

TEST(ThreadNumbers, AreTheSmallestThatAreFree) {
  nigh::tasks::ThreadNumbers<3> numbers;
  EXPECT_EQ(numbers.take(), 0);
  EXPECT_EQ(numbers.take(), 1);
  EXPECT_EQ(numbers.take(), 2);
  EXPECT_EQ(numbers.take(), std::nullopt);
  numbers.give_back(1);
  EXPECT_EQ(numbers.take(), 1);
  numbers.before_fork();
  numbers.in_child(1);  // the others are gone
  EXPECT_EQ(numbers.take(), 0);
  EXPECT_EQ(numbers.take(), 2);
}

TEST(PerWorker, GoesOnInAForkedChild) {
  per_worker<int> counts;
  ++counts.local();
  std::thread([&] { ++counts.local(); }).join();
  auto const child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ++counts.local();
    std::thread([&] { ++counts.local(); }).join();
    _exit(counts.combine(std::plus<>()));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
}

}  // namespace
