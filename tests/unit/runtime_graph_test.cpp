// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <nigh/fork_join.hpp>
#include <nigh/task_scope.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "everywhere.hpp"

namespace {

using nigh::after;
using nigh::near;
using nigh::runtime;
using nigh::tests::four_by_two;
using nigh::task_handle;
using nigh::task_scope;
using nigh::task_status;

// And where tasks run inline or queues are full.
template <class Body>
void in_graphs_everywhere(Body body) {
  nigh::tests::everywhere_and({.queue_capacity = 2, .depth_cutoff = 2}, body);
}

TEST(Async, GivesResults) {
  in_graphs_everywhere([] {
    task_scope scope;
    auto const number = scope.async([] { return 7; });
    auto const text = scope.async(near(0), [] { return std::string("near"); });
    auto const moved =
        scope.async([p = std::make_unique<int>(5)] { return std::make_unique<int>(*p + 1); });
    int seen = 0;
    auto const nothing = scope.async([&seen] { seen = 1; });
    EXPECT_EQ(number.get(), 7);
    EXPECT_EQ(text.get(), "near");
    EXPECT_EQ(*moved.get(), 6);
    nothing.get();
    EXPECT_EQ(seen, 1);
    auto mine = std::move(moved.get());
    EXPECT_EQ(*mine, 6);
    EXPECT_TRUE(number.done());
    EXPECT_EQ(number.status(), task_status::succeeded);
  });
}

TEST(Async, HandlesOutliveTheirScope) {
  task_handle<std::string> kept;
  {
    task_scope scope;
    kept = scope.async([] { return std::string(100, 'x'); });
  }
  EXPECT_EQ(kept.get().size(), 100u);
  auto const copy = kept;
  kept = {};
  EXPECT_FALSE(kept.valid());
  EXPECT_EQ(copy.get().size(), 100u);
}

// The only worker waits, so it has to run the other tasks itself.
TEST(Async, WaitingRunsOtherTasks) {
  runtime rt({.machine = &four_by_two(), .workers = 1});
  rt.run([] {
    std::atomic<int> ran{0};
    task_scope scope;
    scope.spawn([&] { ++ran; });
    auto const result = scope.async([&] { return 1; });
    scope.spawn([&] { ++ran; });
    scope.spawn(near(0), [&] { ++ran; });
    auto const last = scope.async(near(0), [&] { return ran.load(); });
    EXPECT_EQ(result.get(), 1);
    EXPECT_EQ(last.get(), 3);
  });
}

// The thread that waits takes tasks of others: two tasks run at once although one of two workers
// waits for the first.
TEST(Async, WaitingStealsFromOthers) {
  runtime rt({.machine = &four_by_two(), .workers = 2});
  std::atomic<bool> met{false}, here{false};
  rt.run([&] {
    task_scope scope;
    std::atomic<bool> begun{false};
    auto const slow = scope.async([&] {
      begun = true;
      task_scope inner;
      inner.spawn([&] { here = true; });
      while (!here) std::this_thread::yield();
      met = true;
    });
    while (!begun) std::this_thread::yield();  // stolen by the other worker
    slow.get();
  });
  EXPECT_TRUE(met);
}

TEST(Graph, ADiamondRunsInOrder) {
  in_graphs_everywhere([] {
    task_scope scope;
    auto const a = scope.async([] { return 1; });
    auto const b = scope.async(after(a), [&] { return a.get() + 1; });
    auto const c = scope.async(near(0), after(a), [&] { return a.get() + 2; });
    auto const d = scope.async(after(b, c), [&] { return b.get() * c.get(); });
    int seen = 0;
    scope.spawn(after(d), [&] { seen = d.get(); });
    scope.wait();
    EXPECT_EQ(seen, 6);
    EXPECT_EQ(d.get(), 6);
  });
}

// The tasks that a predecessor spawned have ended, too.
TEST(Graph, ComesAfterWhatItsPredecessorsSpawned) {
  in_graphs_everywhere([] {
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> ran{0};
      task_scope scope;
      auto const a = scope.spawn(after(), [&] {
        for (int i = 0; i < 20; ++i)
          scope.spawn([&] {
            scope.spawn([&] { ++ran; });
            ++ran;
          });
      });
      int seen = 0;
      scope.spawn(after(a), [&] { seen = ran; });
      scope.wait();
      EXPECT_EQ(seen, 40);
    }
  });
}

// Random graphs, each vertex with up to six predecessors among all vertices before it: every task
// computes a hash of its predecessors' values, as a serial loop does. Some are near a domain, some
// are made by other tasks of the scope, some predecessors have ended long before.
std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
  return a * 0xff51afd7ed558ccdu;
}

void compare_with_serial(std::uint32_t seed, std::size_t vertices) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  auto const below = [&random](std::size_t n) { return random() % n; };
  std::vector<std::vector<std::size_t>> edges(vertices);
  std::vector<std::uint64_t> expected(vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    expected[v] = v;
    if (v > 0)
      for (auto n = below(7); n > 0; --n) edges[v].push_back(below(v));
    for (auto const p : edges[v]) expected[v] = mixed(expected[v], expected[p]);
  }
  std::vector<std::uint64_t> got(vertices);
  std::vector<task_handle<>> tasks(vertices);
  task_scope scope;
  for (std::size_t v = 0; v < vertices; ++v) {
    std::vector<task_handle<>> before;
    for (auto const p : edges[v]) before.push_back(tasks[p]);
    auto const body = [&, v] {
      auto value = std::uint64_t{v};
      for (auto const p : edges[v]) value = mixed(value, got[p]);
      got[v] = value;
    };
    switch (below(8)) {
      case 0:
        tasks[v] = scope.spawn(near(static_cast<int>(v % 4)), after(before), body);
        break;
      case 1:
        if (before.size() == 2) {
          tasks[v] = scope.async(after(before[0], before[1]), body);
          break;
        }
        [[fallthrough]];
      case 2: {  // made by another task
        auto const maker =
            scope.async([&scope, before, body] { return scope.spawn(after(before), body); });
        tasks[v] = maker.get();
        break;
      }
      default:
        tasks[v] = scope.spawn(after(before), body);
    }
    if (below(500) == 0) scope.wait();
    if (below(50) == 0) tasks[below(v + 1)].get();
  }
  scope.wait();
  EXPECT_EQ(got, expected);
}

TEST(Graph, RandomGraphsComputeWhatASerialLoopDoes) {
  runtime rt({.machine = &four_by_two()});
  runtime cut({.machine = &four_by_two(), .workers = 3, .queue_capacity = 2, .task_capacity = 16});
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    rt.run([=] { compare_with_serial(seed, 1 + seed * 40); });
    rt.invoke([=] { compare_with_serial(seed, 1 + seed * 40); });
    cut.run([=] { compare_with_serial(seed, 1 + seed * 40); });
  }
}

// No depth of a thread's stack, whatever way the tasks take.
TEST(Graph, LongChainsTakeNoStack) {
  std::vector<nigh::runtime_options> all(3);
  all[1] = {.queue_capacity = 2, .thread_stack_bytes = 1 << 20};
  all[2] = {.task_capacity = 2, .thread_stack_bytes = 1 << 20, .depth_cutoff = 1};
  for (auto& options : all) {
    options.machine = &four_by_two();
    options.workers = 2;
    runtime rt(options);
    for (bool const is_near : {false, true})
      rt.run([is_near] {
        constexpr int length = 100'000;
        int ran = 0;
        task_scope scope;
        std::atomic<bool> made{false};
        auto last = scope.spawn(after(), [&] {
          while (!made) std::this_thread::yield();
        });
        for (int i = 0; i < length; ++i)
          last = is_near ? scope.spawn(near(0), after(last), [&] { ++ran; })
                         : scope.spawn(after(last), [&] { ++ran; });
        made = true;
        last.get();
        EXPECT_EQ(ran, length);
      });
  }
}

TEST(Graph, ManyPredecessorsAndManySuccessors) {
  in_graphs_everywhere([] {
    constexpr int wide = 5000;
    std::atomic<int> ran{0};
    task_scope scope;
    auto const first = scope.async([] { return 3; });
    std::vector<task_handle<int>> middle;
    for (int i = 0; i < wide; ++i)
      middle.push_back(scope.async(after(first), [&] {
        ++ran;
        return first.get();
      }));
    auto const sum = scope.async(after(middle), [&] {
      int total = 0;
      for (auto const& m : middle) total += m.get();
      return total + (ran == wide ? 0 : 1);
    });
    EXPECT_EQ(sum.get(), 3 * wide);
  });
}

// ---- failures

TEST(Graph, WhatComesAfterAFailureDoesNotRun) {
  in_graphs_everywhere([] {
    std::atomic<int> ran{0};
    task_scope scope;
    auto const good = scope.async([&] { return ++ran; });
    auto const bad = scope.async([]() -> int { throw std::runtime_error("bad"); });
    auto const next = scope.async(after(bad, good), [&] { return ++ran; });
    auto const last = scope.spawn(after(next), [&] { ++ran; });
    auto const beside = scope.async(after(good), [&] { return ++ran; });
    EXPECT_THROW(scope.wait(), std::runtime_error);
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(bad.status(), task_status::failed);
    EXPECT_EQ(next.status(), task_status::dropped);
    EXPECT_EQ(last.status(), task_status::dropped);
    EXPECT_EQ(beside.status(), task_status::succeeded);
    EXPECT_THROW(last.get(), std::runtime_error);  // that of `bad`
    auto const late = scope.async(after(next), [&] { return ++ran; });
    EXPECT_THROW(late.get(), std::runtime_error);
    scope.wait();  // and has nothing more to rethrow
    EXPECT_EQ(ran, 2);
  });
}

TEST(Graph, AnExceptionThatGetRethrewIsNotRethrownByTheScope) {
  in_graphs_everywhere([] {
    task_scope scope;
    auto const bad = scope.async([]() -> int { throw 1; });
    auto const next = scope.async(after(bad), [&] { return bad.get(); });
    EXPECT_THROW(next.get(), int);
    scope.wait();
    auto const first = scope.async([] { throw 2; });
    scope.spawn(after(first), [] {});
    auto const second = scope.async(after(), [] { throw std::string("kept"); });
    EXPECT_THROW(first.get(), int);
    EXPECT_THROW(scope.wait(), std::string);
  });
}

TEST(Graph, LongChainsOfDroppedTasksEnd) {
  in_graphs_everywhere([] {
    std::atomic<bool> made{false};
    task_scope scope;
    task_handle<> last = scope.spawn(after(), [&] {
      while (!made) std::this_thread::yield();
      throw 1;
    });
    for (int i = 0; i < 50'000; ++i)
      last = scope.spawn(after(last), [] { ADD_FAILURE() << "it ran"; });
    made = true;
    EXPECT_THROW(scope.wait(), int);
    EXPECT_EQ(last.status(), task_status::dropped);
  });
}

TEST(Graph, AFailureCancelsTheRestWhereAsked) {
  in_graphs_everywhere([] {
    task_scope scope({.rule = nigh::on_exception::cancel});
    auto const bad = scope.async([] { throw 1; });
    EXPECT_THROW(bad.get(), int);
    EXPECT_TRUE(scope.stop_requested());
    auto const late = scope.async([] { return 1; });
    EXPECT_THROW(late.get(), nigh::task_dropped);
    EXPECT_EQ(late.status(), task_status::dropped);
  });
}

TEST(Graph, AStopDropsWhatHasNotBegun) {
  in_graphs_everywhere([] {
    std::atomic<int> ran{0};
    auto const held = std::make_shared<int>(0);
    task_scope outer;
    task_scope scope({.parent = outer.token()});
    auto const first = scope.async([&] {
      ++ran;
      outer.request_stop();
    });
    auto const next = scope.async(after(first), [&ran, held] { ++ran; });
    auto const last = scope.async(after(next), [&ran, held] { return ++ran; });
    EXPECT_THROW(last.get(), nigh::task_dropped);
    scope.wait();
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(first.status(), task_status::succeeded);
    EXPECT_EQ(held.use_count(), 1);  // the functions are gone, though handles remain
  });
}

TEST(StopSource, StopsScopesAndSourcesWithItsToken) {
  nigh::stop_source outer;
  nigh::stop_source const inner(outer.token());
  task_scope scope({.parent = inner.token()});
  EXPECT_FALSE(scope.stop_requested() || inner.stop_requested());
  outer.request_stop();
  EXPECT_TRUE(scope.stop_requested() && inner.stop_requested() && inner.token().stop_requested());
  EXPECT_THROW(scope.async([] { return 1; }).get(), nigh::task_dropped);
}

// ---- misuse

TEST(Graph, OnlyTheScopesThreadWaits) {
  runtime rt({.machine = &four_by_two(), .workers = 2});
  rt.run([] {
    task_scope scope;
    std::atomic<bool> go{false};
    auto const held = scope.spawn(after(), [] {});
    held.get();
    task_handle<> const waiting = [&] {
      auto const gate = scope.spawn(near(0), after(), [&] {
        while (!go) std::this_thread::yield();
      });
      return scope.spawn(after(gate), [] {});
    }();
    auto const from_task = scope.async([&] { waiting.wait(); });
    std::thread outside([&] {
      held.get();
      EXPECT_THROW(waiting.wait(), std::logic_error);
      go = true;
    });
    outside.join();
    waiting.get();
    static_cast<void>(from_task.status());
    try {
      from_task.get();  // by now the other may have ended
    } catch (std::logic_error const&) {
    }
    scope.wait();
  });
}

TEST(Graph, ATaskOfTheScopeDoesNotWaitForAnother) {
  runtime rt({.machine = &four_by_two(), .workers = 1});
  rt.run([] {
    task_scope scope;
    task_handle<> other;
    auto const asks = scope.async([&] { other.get(); });
    auto const gate = scope.async(near(0), [] {});
    other = scope.spawn(after(gate), [] {});
    try {
      asks.get();
      FAIL() << "nothing was thrown";
    } catch (std::logic_error const& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("name it in after()"));
    }
    scope.wait();
  });
}

TEST(Graph, RefusesWhatItCannotComeAfter) {
  task_scope scope, other;
  auto const theirs = other.async([] { return 1; });
  EXPECT_THROW(scope.spawn(after(theirs), [] {}), std::invalid_argument);
  EXPECT_THROW(scope.async(after(task_handle<int>()), [] {}), std::invalid_argument);
  EXPECT_THROW(scope.async(near(1'000'000), after(), [] {}), std::out_of_range);
  EXPECT_THROW(task_handle<>().get(), std::logic_error);
  EXPECT_THROW(static_cast<void>(task_handle<int>().done()), std::logic_error);
}

}  // namespace
