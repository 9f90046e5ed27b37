// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <nigh/child_task.hpp>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <nigh/typed_task.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "fib.hpp"
#include "synthetic.hpp"

namespace {

using nigh::fork_join;
using nigh::runtime;
using nigh::tests::fib;
using nigh::tests::synthetic;

nigh::topology const& eight_by_four() {
  static auto const m = synthetic("pack:8 numa:1 core:4 pu:1");
  return m;
}

template <class Field>
std::uint64_t sum(runtime const& rt, Field field) {
  std::uint64_t total = 0;
  for (auto const& c : rt.counters()) total += c.*field;
  return total;
}

// Returns when two threads are in it.
class Rendezvous {
 public:
  void operator()() {
    ++here_;
    while (here_ < 2) std::this_thread::yield();
  }

 private:
  std::atomic<int> here_{0};
};

TEST(ForkJoin, ReturnsWhatTheFunctionsReturn) {
  auto const result = fork_join([] { return 1; }, [] { return std::string("two"); }, [] {},
                                [] { return std::make_unique<int>(4); }, [] { return 5.5; });
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(result)>,
                     std::tuple<int, std::string, std::monostate, std::unique_ptr<int>, double>>);
  EXPECT_EQ(std::get<0>(result), 1);
  EXPECT_EQ(std::get<1>(result), "two");
  EXPECT_EQ(*std::get<3>(result), 4);
  EXPECT_EQ(std::get<4>(result), 5.5);
  static_assert(std::is_void_v<decltype(fork_join([] {}, [] {}, [] {}))>);
}

TEST(ForkJoin, RecursesOnAnyNumberOfWorkers) {
  EXPECT_EQ(fib(15), 610);  // on the default runtime
  for (int workers : {1, 2, 3, 32}) {
    runtime rt({.machine = &eight_by_four(), .workers = workers});
    long on_worker = 0;
    rt.run([&] { on_worker = fib(18); });
    EXPECT_EQ(on_worker, 2584);
    EXPECT_EQ(rt.invoke([] { return fib(18); }), 2584);
  }
}

TEST(ForkJoin, BothRunAtOnceWhenThereAreTwoWorkers) {
  runtime rt({.machine = &eight_by_four(), .workers = 2});
  for (int i = 0; i < 100; ++i) {
    rt.run([] {
      Rendezvous meet;
      fork_join(std::ref(meet), std::ref(meet));
    });
    rt.invoke([] {
      Rendezvous meet;
      fork_join(std::ref(meet), std::ref(meet));
    });
  }
  EXPECT_GE(sum(rt, &nigh::worker_counters::steals), 100u);
}

// Four coarse tasks of which none forks again: whoever is idle gets one though their owner, deep in
// the first, cannot be asked.
TEST(ForkJoin, CoarseTasksSpreadWithoutTheirOwnersHelp) {
  runtime rt({.machine = &eight_by_four(), .workers = 4});
  std::atomic<int> here{0};
  auto const all_four = [&] {
    ++here;
    while (here < 4) std::this_thread::yield();
  };
  rt.run([&] { fork_join(all_four, all_four, all_four, all_four); });
  EXPECT_EQ(here, 4);
}

struct Counted {  // an exception, or a function that throws one
  int id;
};

TEST(ForkJoin, EachRunsOnceAndTheFirstExceptionIsRethrown) {
  runtime rt({.machine = &eight_by_four(), .workers = 3});
  for (bool on_worker : {true, false})
    for (int round = 0; round < 200; ++round) {
      std::atomic<int> ran{0};
      int caught = -1;
      auto const thrower = [&](int id) {
        return [&ran, id]() -> int {
          ++ran;
          throw Counted{id};
        };
      };
      auto const body = [&] {
        try {
          fork_join([&] { return ++ran; }, thrower(1), thrower(2), [&] { return ++ran; });
        } catch (Counted const& c) {
          caught = c.id;
        }
      };
      if (on_worker)
        rt.run(body);
      else
        rt.invoke(body);
      ASSERT_EQ(ran, 4);
      ASSERT_EQ(caught, 1);
    }
}

struct ThrowsWhenMoved {
  ThrowsWhenMoved() = default;
  ThrowsWhenMoved(ThrowsWhenMoved&&) { throw Counted{5}; }
  ThrowsWhenMoved& operator=(ThrowsWhenMoved&&) = delete;
};

TEST(ForkJoin, AllRunWhenAResultThrowsAsItIsMoved) {
  for (std::size_t capacity : {256u, 1u})  // 1: they are called in order
    for (bool is_stolen : {false, true}) {
      runtime rt({.machine = &eight_by_four(), .workers = 2, .task_capacity = capacity});
      if (is_stolen && capacity == 1) continue;
      int caught = -1;
      std::weak_ptr<int> left_over;
      Rendezvous meet;
      rt.run([&] {
        try {
          fork_join(
              [&] {
                if (is_stolen) meet();
                return ThrowsWhenMoved();
              },
              [&] {
                if (is_stolen) meet();
                auto made = std::make_shared<int>(1);
                left_over = made;
                ++caught;
                return made;
              });
        } catch (Counted const& c) {
          caught += c.id;
        }
      });
      EXPECT_EQ(caught, 5);
      EXPECT_TRUE(left_over.expired());
    }
}

TEST(ForkJoin, AStolenResultThatNobodyTakesIsDestroyed) {
  runtime rt({.machine = &eight_by_four(), .workers = 2});
  std::weak_ptr<int> left_over;
  rt.run([&] {
    Rendezvous meet;
    try {
      fork_join(
          [&] {
            meet();
            throw Counted{0};
          },
          [&] {
            meet();
            auto made = std::make_shared<int>(1);
            left_over = made;
            return made;
          });
    } catch (Counted const&) {
    }
  });
  EXPECT_TRUE(left_over.expired());
}

// The right function's frame holds a stack that is full: it runs inline, and is counted.
TEST(ForkJoin, AFullStackRunsTasksInline) {
  runtime rt({.machine = &eight_by_four(), .workers = 2, .task_capacity = 4});
  long result = 0;
  rt.run([&] { result = fib(20); });
  EXPECT_EQ(result, 6765);
  EXPECT_GT(sum(rt, &nigh::worker_counters::serialized), 0u);
}

TEST(ForkJoin, WhatGuestsRunInlineIsCountedToo) {
  runtime rt({.machine = &eight_by_four(), .workers = 1, .task_capacity = 4});
  EXPECT_EQ(rt.invoke([] { return fib(20); }), 6765);
  EXPECT_GT(rt.guest_counters().serialized, 0u);
  EXPECT_EQ(rt.guest_counters().cpu, -1);
}

TEST(ForkJoin, CutoffsSerializeAndCountsCount) {
  constexpr auto forked = &nigh::worker_counters::forked;
  constexpr auto serialized = &nigh::worker_counters::serialized;
  long result = 0;
  auto const run = [&](nigh::runtime_options options) {
    options.machine = &eight_by_four();
    options.workers = 3;
    auto rt = std::make_unique<runtime>(options);
    rt->run([&] { result = fib(16); });
    EXPECT_EQ(result, 987);
    return rt;
  };
  constexpr std::uint64_t forks = 1596;  // one for each call of fib with n > 1
  auto const all = run({.count_tasks = true});
  EXPECT_EQ(sum(*all, forked), forks);
  EXPECT_EQ(sum(*all, serialized), 0u);
  auto const shallow = run({.depth_cutoff = 3});
  EXPECT_EQ(sum(*shallow, forked), 7u);  // a binary tree of depth 3
  EXPECT_EQ(sum(*shallow, forked) + sum(*shallow, serialized), forks);
  auto const few = run({.queue_cutoff = 2});
  EXPECT_GT(sum(*few, serialized), 0u);
  EXPECT_EQ(sum(*few, forked) + sum(*few, serialized), forks);
}

// A binary tree of that depth, forked in another way than fork_join's.
void spawn_tree(int depth) {
  if (depth == 0) return;
  nigh::task_scope scope;
  scope.spawn([depth] { spawn_tree(depth - 1); });
  scope.spawn([depth] { spawn_tree(depth - 1); });
}
void join_tree(int depth) {
  if (depth == 0) return;
  nigh::child_task right([depth] { join_tree(depth - 1); });
  nigh::child_task left([depth] { join_tree(depth - 1); });
  left.join();
  right.join();
}

TEST(ForkJoin, TheDepthCutoffHoldsForScopesAndChildTasks) {
  for (auto* const tree : {&spawn_tree, &join_tree})
    for (int workers : {1, 3}) {
      nigh::runtime_options options;
      options.machine = &eight_by_four();
      options.workers = workers;
      options.depth_cutoff = 3;
      runtime rt(options);
      rt.run([tree] { tree(8); });
      EXPECT_EQ(sum(rt, &nigh::worker_counters::forked), 2u + 4 + 8);
      EXPECT_EQ(sum(rt, &nigh::worker_counters::serialized), 510u - 14);
    }
}

TEST(ForkJoin, VictimsAndChunksCanBeChosen) {
  using enum nigh::victim_choice;
  for (auto victims : {random, ring, hierarchical})
    for (auto chunks :
         {nigh::chunk_choice::one, nigh::chunk_choice::half, nigh::chunk_choice::hierarchical}) {
      runtime rt({.machine = &eight_by_four(), .victims = victims, .chunks = chunks});
      long result = 0;
      rt.run([&] { result = fib(20); });
      EXPECT_EQ(result, 6765);
    }
}

int fib_by_hand(int n) {
  if (n < 2) return n;
  nigh::child_task right([n] { return fib_by_hand(n - 2); });
  auto const left = fib_by_hand(n - 1);
  return left + right.join();
}

TEST(ChildTask, SpawnsAndJoinsByHand) {
  EXPECT_EQ(fib_by_hand(12), 144);  // no runtime: all in join()
  runtime rt({.machine = &eight_by_four(), .workers = 3});
  runtime small({.machine = &eight_by_four(), .workers = 2, .task_capacity = 3});
  for (runtime* r : {&rt, &small}) {
    long result = 0;
    r->run([&] { result = fib_by_hand(18); });
    EXPECT_EQ(result, 2584);
    EXPECT_EQ(r->invoke([] { return fib_by_hand(18); }), 2584);
  }
}

TEST(ChildTask, RunsOnceJoinedOrNot) {
  runtime rt({.machine = &eight_by_four(), .workers = 2});
  for (int round = 0; round < 100; ++round)
    rt.invoke([] {
      std::atomic<int> ran{0};
      auto const throws = [&] {
        ++ran;
        throw Counted{0};
      };
      {
        nigh::child_task const dropped(throws);
        nigh::child_task kept(throws);
        EXPECT_THROW(kept.join(), Counted);
      }
      EXPECT_EQ(ran, 2);
    });
}

long typed_fib(nigh::task_context& at, int n) {
  if (n < 2) return n;
  nigh::typed_task<typed_fib> right(at, n - 2);
  long const left = typed_fib(at, n - 1);
  return left + right.join(at);
}

int meet_or_throw(nigh::task_context&, Rendezvous* meet, bool throws) {
  (*meet)();
  if (throws) throw Counted{7};
  return 7;
}

TEST(TypedTask, SpawnsAndJoins) {
  EXPECT_EQ(typed_fib(nigh::this_task_context(), 12), 144);  // no runtime: all in the constructor
  runtime rt({.machine = &eight_by_four(), .workers = 3});
  runtime small({.machine = &eight_by_four(), .workers = 2, .task_capacity = 3});
  for (runtime* r : {&rt, &small}) {
    long result = 0;
    r->run([&] { result = typed_fib(nigh::this_task_context(), 18); });
    EXPECT_EQ(result, 2584);
    EXPECT_EQ(r->invoke([] { return typed_fib(nigh::this_task_context(), 18); }), 2584);
  }
}

TEST(TypedTask, BringsBackWhatItsThiefMade) {
  runtime rt({.machine = &eight_by_four(), .workers = 2});
  for (bool throws : {false, true})
    rt.run([throws] {
      auto& at = nigh::this_task_context();
      Rendezvous meet;
      nigh::typed_task<meet_or_throw> other(at, &meet, throws);
      meet();
      if (throws)
        EXPECT_THROW(other.join(at), Counted);
      else
        EXPECT_EQ(other.join(at), 7);
    });
}

TEST(ChildTaskDeathTest, Misuse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto const with_child = [](auto body) {
    runtime rt({.machine = &eight_by_four(), .workers = 1});
    rt.run([&] {
      nigh::child_task child([] { return 1; });
      body(child);
    });
  };
  EXPECT_DEATH(with_child([](auto& child) {
                 child.join();
                 child.join();
               }),
               "a child_task is joined once");
  EXPECT_DEATH(with_child([](auto& child) { std::thread([&] { child.join(); }).join(); }),
               "a child_task is joined by the thread that made it");
}

// An external thread that runs a worker's task would wait for it as the worker would.
TEST(ForkJoin, WaitingInAStolenTaskIsRefused) {
  runtime rt({.machine = &eight_by_four(), .workers = 3});
  std::atomic<bool> refused{false}, stolen{false};
  auto const wait_as_guest = [&] {
    if (nigh::this_worker::index() >= 0) return;
    stolen = true;
    try {
      rt.wait();
    } catch (std::logic_error const&) {
      refused = true;
    }
  };
  // One worker forks, one keeps the external thread waiting, and one is displaced by it. An external
  // thread looks for work for a millisecond only, so it may take several rounds.
  for (int round = 0; round < 1000 && !stolen; ++round) {
    std::atomic<bool> forks{false}, keeps{false};
    rt.spawn([&] {
      forks = true;
      for (int i = 0; i < 100 && !stolen; ++i)
        fork_join([] { std::this_thread::sleep_for(std::chrono::microseconds(100)); },
                  wait_as_guest);
    });
    while (!forks) std::this_thread::yield();
    rt.invoke([&] {
      nigh::task_scope scope;
      scope.spawn(nigh::near(0), [&] {
        keeps = true;
        for (int i = 0; i < 50 && !stolen; ++i)
          std::this_thread::sleep_for(std::chrono::microseconds(100));
      });
      while (!keeps) std::this_thread::yield();
    });
    rt.wait();
  }
  EXPECT_TRUE(refused);
}

// Forks of typed_fib above depth 3. Only the task is one deeper; the call beside it is its
// parent's.
std::uint64_t forks_above_three(int n, int depth) {
  if (n < 2 || depth == 3) return 0;
  return 1 + forks_above_three(n - 1, depth) + forks_above_three(n - 2, depth + 1);
}

TEST(TypedTask, KeepsDepths) {
  runtime rt({.machine = &eight_by_four(), .workers = 2, .depth_cutoff = 3});
  long result = 0;
  rt.run([&] { result = typed_fib(nigh::this_task_context(), 10); });
  EXPECT_EQ(result, 55);
  EXPECT_EQ(sum(rt, &nigh::worker_counters::forked), forks_above_three(10, 0));
}

long one_of_it(nigh::task_context&, long n) { return n; }

TEST(TypedTaskDeathTest, JoinedAfterAnOlderScope) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(nigh::default_runtime().invoke([] {
    nigh::task_scope scope;
    nigh::typed_task<one_of_it> task(nigh::this_task_context(), 1L);
    scope.wait();
    task.join(nigh::this_task_context());
  }),
               "a typed_task is joined before an older task_scope is waited for");
}

TEST(ForkJoin, RuntimesNest) {
  runtime outer({.machine = &eight_by_four(), .workers = 2});
  runtime inner({.machine = &eight_by_four(), .workers = 2});
  long result = 0;
  outer.run([&] {
    auto const [a, b] = fork_join([&] { return inner.invoke([] { return fib(12); }); },
                                  [&] { return inner.invoke([] { return fib(11); }); });
    result = a + b;
  });
  EXPECT_EQ(result, fib(13));
}

TEST(ForkJoin, MoreExternalThreadsThanSlots) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 100; ++i) threads.emplace_back([&] { right += fib(14) == 377; });
  for (auto& t : threads) t.join();
  EXPECT_EQ(right, 100);
}

// Thread-local data is the running thread's: a join may run other tasks, on the same thread, but
// never moves to another one.
TEST(ForkJoin, AFunctionStaysOnItsThread) {
  runtime rt({.machine = &eight_by_four(), .workers = 4});
  std::atomic<int> moved{0};
  struct Walk {
    static int down(int n, std::atomic<int>& moved) {
      auto const before = std::this_thread::get_id();
      if (n < 2) return n;
      auto const [a, b] =
          fork_join([&] { return down(n - 1, moved); }, [&] { return down(n - 2, moved); });
      moved += std::this_thread::get_id() != before;
      return a + b;
    }
  };
  rt.run([&] { Walk::down(16, moved); });
  EXPECT_EQ(moved, 0);
}

}  // namespace
