// SPDX-License-Identifier: Apache-2.0
// tidy: long, because what a scope promises is tested in one place
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <nigh/blocking_scope.hpp>
#include <nigh/fork_join.hpp>
#include <nigh/task_scope.hpp>
#include <stdexcept>
#include <string>
#include <thread>

#include "everywhere.hpp"
#include "platform/fence_everywhere.hpp"
#include "platform/thread.hpp"

namespace {

using nigh::near;
using nigh::runtime;
using nigh::tests::four_by_two;
using nigh::task_scope;
using nigh::tests::everywhere;

TEST(TaskScope, RunsWhatItWasGiven) {
  everywhere([] {
    std::atomic<int> ran{0};
    task_scope scope;
    for (int i = 0; i < 20'000; ++i) scope.spawn([&] { ++ran; });
    scope.wait();
    EXPECT_EQ(ran, 20'000);
    scope.spawn([&] { ++ran; });  // it can be used again
    scope.wait();
    EXPECT_EQ(ran, 20'001);
  });
}

extern "C" [[gnu::weak]] void __tsan_acquire(void* address);

// Of so many long tasks on as many threads none waits while a thread has nothing to do.
void expect_all_beside_each_other(int tasks) {
  constexpr auto long_enough = std::chrono::seconds(20);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> begun{0};
    auto const task = [&] {
      ++begun;
      auto const end = std::chrono::steady_clock::now() + long_enough;
      while (begun != tasks && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      EXPECT_EQ(begun, tasks);
    };
    task_scope scope;
    for (int i = 0; i < tasks; ++i) scope.spawn(task);
    scope.wait();
    if (testing::Test::HasFailure()) return;
  }
}

// A thread that waits takes its newest task, and leaves the one below it to the thread that it has woken.
TEST(TaskScope, TwoTasksRunBesideEachOther) {
  runtime rt({.machine = &four_by_two(), .workers = 2});
  rt.invoke([] { expect_all_beside_each_other(2); });
  rt.run([] { expect_all_beside_each_other(2); });
}

// More than a stack shares before anybody asks.
TEST(TaskScope, AsManyTasksAsThreadsRunBesideEachOther) {
  if (!nigh::platform::fence_everywhere()) GTEST_SKIP() << "membarrier() is refused here";
  runtime rt({.machine = &four_by_two(), .workers = 8});
  rt.invoke([] { expect_all_beside_each_other(8); });
  rt.run([] { expect_all_beside_each_other(8); });
}

struct Chain {
  task_scope& scope;
  long& left;
  void operator()() const {
    if (--left > 0) scope.spawn(*this);
  }
};

// As a walk over a list: each task makes the next one, and two threads take them from each other.
// With enough stack for a sanitizer's frames, too; that for races keeps 65,536 of them.
TEST(TaskScope, TakesAnyNumberOfTasksThatEachMakeTheNext) {
  for (int const workers : {1, 2, 4}) {
    runtime r{{.workers = workers, .thread_stack_bytes = std::size_t{64} << 20U}};
    r.run([] {
      long left = __tsan_acquire != nullptr ? 2'000 : 600'000;
      task_scope scope;
      scope.spawn(Chain{scope, left});
      scope.wait();
      EXPECT_EQ(left, 0);
    });
  }
}

TEST(TaskScope, EndsAfterItsTasks) {
  everywhere([] {
    std::atomic<int> ran{0};
    {
      task_scope scope;
      for (int i = 0; i < 100; ++i) scope.spawn([&] { ++ran; });
    }
    EXPECT_EQ(ran, 100);
  });
}

// A task may spawn into its scope whichever thread it is on, and what it spawned counts.
TEST(TaskScope, TasksSpawnIntoTheirScope) {
  everywhere([] {
    std::atomic<int> ran{0};
    struct Tree {
      static void grow(task_scope& scope, std::atomic<int>& ran, int depth) {
        ++ran;
        if (depth == 0) return;
        scope.spawn([&scope, &ran, depth] { grow(scope, ran, depth - 1); });
        scope.spawn(near(0), [&scope, &ran, depth] { grow(scope, ran, depth - 1); });
      }
    };
    task_scope scope;
    Tree::grow(scope, ran, 9);
    scope.wait();
    EXPECT_EQ(ran, (1 << 10) - 1);
  });
}

TEST(TaskScope, TasksNearADomainRunThere) {
  runtime rt({.machine = &four_by_two(), .mode = nigh::locality::strict});
  std::atomic<int> strays{0};
  rt.run([&] {
    task_scope scope;
    for (int i = 0; i < 1000; ++i)
      scope.spawn(near(i % 4), [&, i] { strays += nigh::this_worker::domain() != i % 4; });
    scope.wait();
  });
  EXPECT_EQ(strays, 0);
  rt.run([&] {
    task_scope scope;
    EXPECT_THROW(scope.spawn(near(4), [] {}), std::out_of_range);
  });
}

// Each task waits for one that is queued behind all others, and so runs them on top of itself until
// no stack is left to help with.
TEST(TaskScope, TasksNearADomainAreRunWhenStacksAreFull) {
  for (std::size_t stack_bytes : {std::size_t{128} << 10, std::size_t{1} << 20}) {
    runtime rt({.machine = &four_by_two(), .workers = 2, .thread_stack_bytes = stack_bytes});
    std::atomic<int> ran{0};
    for (int i = 0; i < 500; ++i)
      rt.spawn([&] {
        std::array<char, 16 * 1024> frame{};
        task_scope scope;
        scope.spawn(near(0), [&] { ran += 1 + frame[0]; });
      });
    rt.wait();
    EXPECT_EQ(ran, 500);
  }
}

// Calls f with `left` bytes of the thread's stack left, or a little less.
template <class F>
[[gnu::noinline]] int with_stack_left(std::size_t left, F const& f) {
  char volatile frame[4096];
  frame[0] = 1;
  if (nigh::platform::stack_left() <= left) {
    f();
    return frame[0];
  }
  return with_stack_left(left, f) + frame[0];
}

// The only worker waits with little stack left for a task that only its backup thread can take;
// that one waits likewise for a third, and has no backup thread itself.
TEST(TaskScope, WorkersAndBackupThreadsWaitWithLittleStackLeft) {
  runtime rt({.machine = &four_by_two(), .workers = 1, .thread_stack_bytes = 2 << 20});
  int ran = 0;
  auto const wait_deep_below = [](task_scope& scope) {
    with_stack_left(200 << 10, [&scope] { scope.wait(); });
  };
  rt.run([&] {
    task_scope outer;
    outer.spawn(near(0), [&] {
      task_scope inner;
      inner.spawn(near(0), [&ran] { ++ran; });
      wait_deep_below(inner);
      ++ran;
    });
    wait_deep_below(outer);
  });
  EXPECT_EQ(ran, 2);
}

TEST(TaskScope, AnyClosureFits) {
  everywhere([] {
    task_scope scope;
    std::atomic<int> sum{0};
    auto const shared = std::make_shared<int>(1);
    std::array<int, 100> large{};
    large[99] = 2;
    auto unique = std::make_unique<int>(3);
    scope.spawn([&sum, shared] { sum += *shared; });
    scope.spawn([&sum, large] { sum += large[99]; });
    scope.spawn([&sum, u = std::move(unique)] { sum += *u; });
    scope.spawn(near(0), [&sum, shared, large] { sum += *shared + large[99]; });
    scope.wait();
    EXPECT_EQ(sum, 9);
    EXPECT_EQ(shared.use_count(), 1);
  });
}

TEST(TaskScope, WaitRethrowsTheFirstException) {
  everywhere([] {
    std::atomic<int> ran{0};
    task_scope scope;
    for (int i = 0; i < 100; ++i)
      scope.spawn([&ran, i] {
        ++ran;
        if (i % 10 == 0) throw std::runtime_error("as arranged");
      });
    EXPECT_THROW(scope.wait(), std::runtime_error);
    EXPECT_EQ(ran, 100);
    EXPECT_NO_THROW(scope.wait());
    scope.spawn(near(0), [] { throw std::out_of_range("near"); });
    EXPECT_THROW(scope.wait(), std::out_of_range);
  });
}

TEST(TaskScope, ItsEndRethrowsToo) {
  everywhere([] {
    auto const leave = [](bool with_another) {
      task_scope scope;
      scope.spawn([] { throw std::runtime_error("from the task"); });
      if (with_another) throw std::logic_error("from the scope");
    };
    EXPECT_THROW(leave(false), std::runtime_error);
    EXPECT_THROW(leave(true), std::logic_error);
  });
}

// A scope that ends by an exception runs its tasks meanwhile. Theirs are thrown as ever.
TEST(TaskScope, TasksOfAScopeThatUnwindsThrowAndCatch) {
  everywhere([] {
    std::atomic<int> caught{0};
    auto const throws_within = [&caught] {
      try {
        task_scope scope;
        scope.spawn([] { throw std::runtime_error("from the task"); });
      } catch (std::runtime_error const&) {
        ++caught;
      }
    };
    auto const unwind = [&] {
      task_scope scope;
      for (int i = 0; i < 10; ++i) scope.spawn(throws_within);
      throw std::logic_error("from the scope");
    };
    EXPECT_THROW(unwind(), std::logic_error);
    EXPECT_EQ(caught, 10);
  });
}

TEST(TaskScope, CancelsItsOtherTasksWhenAsked) {
  runtime rt({.machine = &four_by_two(), .workers = 1});
  rt.run([] {
    int ran = 0;
    task_scope scope({.rule = nigh::on_exception::cancel});
    for (int i = 0; i < 100; ++i) scope.spawn([&ran] { ++ran; });
    scope.spawn([] { throw std::runtime_error("stop"); });  // newest first
    EXPECT_THROW(scope.wait(), std::runtime_error);
    EXPECT_EQ(ran, 0);
    EXPECT_TRUE(scope.stop_requested());
  });
}

TEST(TaskScope, StopReachesScopesWithin) {
  everywhere([] {
    task_scope outer;
    outer.spawn([&outer] {
      task_scope inner({.parent = outer.token()});
      auto const token = inner.token();
      EXPECT_FALSE(token.stop_requested());
      outer.request_stop();
      EXPECT_TRUE(token.stop_requested());
      bool ran = false;
      inner.spawn([&ran] { ran = true; });
      inner.wait();
      EXPECT_FALSE(ran);
    });
    outer.wait();
    EXPECT_FALSE(nigh::stop_token().stop_requested());
  });
}

// Waiting for an outer scope inside a fork runs the fork's other half on the way; it still runs
// once, and its result still arrives.
TEST(TaskScope, WaitingInsideAFork) {
  everywhere([] {
    std::atomic<int> ran{0};
    task_scope scope;
    scope.spawn([&] { ++ran; });
    auto const [a, b] = nigh::fork_join(
        [&] {
          scope.wait();
          scope.spawn([&] { ++ran; });
          return 1;
        },
        [&] { return ++ran, 2; });
    scope.wait();
    EXPECT_EQ(a + b, 3);
    EXPECT_EQ(ran, 3);
  });
}

// Waiting for an outer scope takes the inner one's tasks off as well; what the inner one spawns
// afterwards is still its own.
TEST(TaskScope, WaitingForAnOuterScopeInsideAnInnerOne) {
  everywhere([] {
    std::atomic<int> ran{0};
    task_scope outer;
    outer.spawn([&] { ++ran; });
    {
      task_scope inner;
      inner.spawn([&] { ++ran; });
      outer.wait();
      inner.spawn([&] { ++ran; });
      inner.wait();
      EXPECT_EQ(ran, 3);
      inner.spawn([&] { ++ran; });
    }
    EXPECT_EQ(ran, 4);
  });
}

TEST(TaskScope, OnlyItsOwnThreadWaits) {
  runtime rt({.machine = &four_by_two(), .workers = 2});
  rt.run([] {
    task_scope scope;
    std::atomic<bool> refused{false}, begun{false};
    scope.spawn([&] {
      begun = true;
      try {
        scope.wait();
      } catch (std::logic_error const&) {
        refused = true;
      }
    });
    while (!begun) std::this_thread::yield();  // the other worker has it
    scope.wait();
    EXPECT_TRUE(refused);
  });
}

TEST(TaskScope, WorksForAGivenRuntime) {
  runtime rt({.machine = &four_by_two(), .workers = 2});
  std::atomic<int> on_worker{0};
  {
    task_scope scope(rt);
    for (int i = 0; i < 100; ++i)
      scope.spawn(near(i % 4), [&] { on_worker += nigh::this_worker::index() >= 0; });
    scope.wait();
  }
  EXPECT_EQ(on_worker, 100);
}

// The only worker waits for its own task, which a backup thread runs.
TEST(BlockingScope, AnotherWorkerStepsIn) {
  runtime rt({.machine = &four_by_two(), .workers = 1});
  for (int i = 0; i < 20; ++i)
    rt.run([&rt] {
      std::atomic<int> done{0};
      task_scope scope;
      scope.spawn([&] { ++done; });
      rt.spawn([&] { ++done; });
      {
        nigh::blocking_scope const blocking;
        nigh::blocking_scope const within;  // does nothing
        while (done < 2) std::this_thread::yield();
      }
      scope.wait();
    });
  nigh::blocking_scope const outside;  // does nothing
}

TEST(BlockingScope, WhatABackupThreadRunsCountsForItsWorker) {
  runtime rt({.machine = &four_by_two(), .workers = 1});
  rt.run([&] {
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) rt.spawn(near(0), [&] { ++ran; });
    nigh::blocking_scope const blocking;
    while (ran < 100) std::this_thread::yield();
  });
  auto const all = rt.counters();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].run, 101u);
  EXPECT_EQ(all[0].local, 100u);
}

// An external thread that spawns into another thread's scope has run that task when it leaves.
TEST(TaskScope, ExternalThreadsSpawnIntoScopesOfOthers) {
  runtime rt({.machine = &four_by_two(), .workers = 1}), between({.machine = &four_by_two()});
  std::atomic<int> ran{0};
  auto const spawn_as_guest = [&](task_scope& scope) {
    rt.invoke([&] { scope.spawn([&] { ++ran; }); });
  };
  {
    task_scope scope(rt);
    std::thread([&] { spawn_as_guest(scope); }).join();
  }
  EXPECT_EQ(ran, 1);
  rt.run([&] {  // the worker becomes an external thread where it works, too
    task_scope scope;
    between.invoke([&] { spawn_as_guest(scope); });
  });
  EXPECT_EQ(ran, 2);
}

// A thread that waits for queued tasks has others of its own, which no other thread can take.
TEST(TaskScope, WaitingForTasksNearADomainRunsOthersMeanwhile) {
  runtime rt({.machine = &four_by_two(),
              .workers = 2,
              .order = nigh::cpu_order::scatter,
              .mode = nigh::locality::strict});
  ASSERT_NE(rt.counters()[0].domain, rt.counters()[1].domain);
  for (int round = 0; round < 20; ++round)
    rt.run([&] {
      std::atomic<int> ran{0};
      task_scope outer;
      for (int i = 0; i < 40; ++i) outer.spawn([&] { ++ran; });
      task_scope inner;
      int const here = nigh::this_worker::domain();
      inner.spawn(near(rt.counters()[0].domain + rt.counters()[1].domain - here), [&] {
        while (ran < 40) std::this_thread::yield();
      });
      inner.wait();
      outer.wait();
      EXPECT_EQ(ran, 40);
    });
}

// Others take all that lies in the stack of one who waits for queued tasks.
TEST(TaskScope, WaitingForTasksNearADomainKeepsNoOthersBack) {
  runtime rt({.machine = &four_by_two(), .workers = 3});
  rt.run([] {
    std::atomic<int> ran{0};
    task_scope outer;
    for (int i = 0; i < 40; ++i) outer.spawn([&] { ++ran; });
    task_scope inner;
    inner.spawn(near(0), [&] {
      while (ran < 40) std::this_thread::yield();
    });
    inner.wait();
    EXPECT_EQ(ran, 40);
  });
}

// All workers wait, as external threads of the other runtime, for what only an external one is left
// to run.
TEST(TaskScope, OfRuntimesWhoseTasksNearADomainCallEachOther) {
  runtime a({.machine = &four_by_two(), .workers = 1}), b({.machine = &four_by_two(), .workers = 2});
  struct Call {
    static int down(runtime& here, runtime& there, int left) {
      if (left == 0) return 0;
      return here.invoke([&] {
        int below = 0;
        task_scope scope;
        scope.spawn(near(0), [&] { below = down(there, here, left - 1); });
        scope.wait();
        return below + 1;
      });
    }
  };
  for (int const depth : {1, 3, 12}) EXPECT_EQ(Call::down(a, b, depth), depth);
}

// A backup thread that is dismissed still has a task, and that still forks.
TEST(BlockingScope, WhatABackupThreadForksIsStolenAfterItsWorkerIsBack) {
  runtime rt({.machine = &four_by_two(), .workers = 1});
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> begun{false}, back{false};
    std::atomic<int> here{0};
    auto const meet = [&] {
      ++here;
      while (here < 2) std::this_thread::yield();
    };
    rt.run([&] {
      rt.spawn([&] {
        begun = true;
        while (!back) std::this_thread::yield();
        nigh::fork_join(meet, meet);
      });
      {
        nigh::blocking_scope const blocking;
        while (!begun) std::this_thread::yield();
      }
      back = true;
    });
  }
}

TEST(TaskScopeDeathTest, Misuse) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto* const scope = new task_scope;
        std::thread([scope] { delete scope; }).join();
      },
      "destroyed by the thread that made it");
  EXPECT_DEATH(
      {
        alignas(task_scope) std::byte memory[sizeof(task_scope)];
        auto* const scope = new (memory) task_scope;
        scope->~task_scope();
        scope->spawn([] {});
      },
      "spawned into a task_scope that has ended");
  EXPECT_DEATH(
      {
        auto rt = std::make_unique<runtime>();
        task_scope const scope(*rt);
        rt.reset();
      },
      "destroyed when no thread is in its scopes");
  EXPECT_DEATH(
      {
        auto* const rt = new runtime({.workers = 1});
        rt->spawn([rt] { delete rt; });
        std::this_thread::sleep_for(std::chrono::seconds(10));
      },
      "no task destroys the runtime it runs in");
  EXPECT_DEATH(
      {
        runtime rt({.workers = 1});
        rt.run([] {
          task_scope scope;
          scope.spawn(near(0), [&] { scope.wait(); });
          scope.wait();
        });
      },
      "a task does not wait for the scope it belongs to");
}

}  // namespace
