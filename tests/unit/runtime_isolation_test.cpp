// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <nigh/blocking_scope.hpp>
#include <nigh/child_task.hpp>
#include <nigh/fork_join.hpp>
#include <nigh/isolate.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/task_scope.hpp>
#include <stdexcept>
#include <thread>

#include "everywhere.hpp"

namespace {

using nigh::near;
using nigh::runtime;
using nigh::tests::four_by_two;
using nigh::task_scope;
using nigh::this_task_region::isolate;
using namespace std::chrono_literals;

thread_local int inside = 0;  // regions of the test that this thread's frames are in

// Waits for a while for what another thread does, on the way of a task.
template <class Done>
bool comes(Done done) {
  for (auto const end = std::chrono::steady_clock::now() + 30s; !done();) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

// Two halves, of which a thief takes the second and holds it until `go`. Then the thread waits.
template <class Then, class Go>
void wait_for_a_thief(Then then, Go go) {
  std::atomic<bool> stolen{false};
  nigh::fork_join(
      [&] {
        EXPECT_TRUE(comes([&] {
          nigh::fork_join([] {}, [] {});  // so that this thread shares more tasks when asked
          return stolen.load();
        }));
        then();
      },
      [&] {
        stolen = true;
        EXPECT_TRUE(comes(go));
      });
}

// A thread waits while tasks from outside are there for everybody, and does so until enough of them
// have run: wait(more, go) calls more(), which brings more of them, before the wait that ends with
// go(). Returns how many ran on a thread that was inside. With two workers one of which has the
// stolen half, the backup thread of the other has to run them.
template <class Wait>
int tasks_from_outside(int workers, bool isolated, Wait wait) {
  runtime rt({.machine = &four_by_two(), .workers = workers});
  std::atomic<int> strays{0};
  for (int round = 0; round < 5; ++round)
    rt.run([&] {
      constexpr int some = 20;
      // With more workers a thief may have taken several at once, and keep some while it holds its
      // half.
      int const enough = workers == 2 ? 3 * some : some;
      std::atomic<int> ran{0};
      auto const task = [&] {
        strays += inside;
        ++ran;
      };
      task_scope outside;
      for (int i = 0; i < some; ++i) outside.spawn(task);
      for (int i = 0; i < some; ++i) outside.spawn(near(0), task);
      auto const more = [&] {
        for (int i = 0; i < some; ++i) rt.spawn(near(0), task);
      };
      auto const body = [&] {
        ++inside;
        wait(more, [&] { return ran >= enough; });
        --inside;
      };
      isolated ? isolate(body) : body();
      outside.wait();
      EXPECT_TRUE(comes([&] { return ran == 3 * some; }));
    });
  return strays;
}

TEST(Isolation, AJoinRunsNoTaskFromOutside) {
  auto const wait = [](auto more, auto go) { wait_for_a_thief(more, go); };
  for (int const workers : {2, 3, 8}) EXPECT_EQ(tasks_from_outside(workers, true, wait), 0);
  // Elsewhere it does: with two workers nobody else can.
  EXPECT_GT(tasks_from_outside(2, false, wait), 0);
}

// So do tasks of the region on other threads.
TEST(Isolation, StolenTasksBelongToTheRegion) {
  auto const wait = [](auto more, auto go) {
    wait_for_a_thief([] {},
                     [&] {
                       ++inside;  // on the thief
                       wait_for_a_thief(more, go);
                       --inside;
                       return true;
                     });
  };
  EXPECT_EQ(tasks_from_outside(4, true, wait), 0);
}

TEST(Isolation, ScopesAndLoopsWaitInside) {
  auto const wait = [](auto more, auto go) {
    std::atomic<int> ran{0};
    task_scope scope;
    for (int t = 0; t < 30; ++t) scope.spawn([&ran] { ++ran; });
    for (int t = 0; t < 30; ++t) scope.spawn(near(t % 4), [&ran] { ++ran; });
    more();
    auto const one = scope.async([&] { return comes(go); });
    EXPECT_TRUE(one.get());
    nigh::parallel_for(0, 100, [&](int) {
      ++ran;
      nigh::fork_join([&] { ++ran; }, [&] { ++ran; });
    });
    scope.wait();
    EXPECT_EQ(ran, 360);
  };
  EXPECT_EQ(tasks_from_outside(3, true, wait), 0);
}

// The reason why people ask for regions: a lock that is held across a join, and wanted by other
// tasks.
TEST(Isolation, ALockIsHeldAcrossJoins) {
  for (int const workers : {1, 2, 3, 4, 6, 8}) {
    runtime rt({.machine = &four_by_two(),
                .workers = workers,
                .chunks = workers % 2 == 0 ? nigh::chunk_choice::half : nigh::chunk_choice::one});
    long sum = 0;
    std::mutex lock;
    rt.run([&] {
      task_scope scope;
      for (int i = 0; i < 12; ++i)
        scope.spawn([&] {
          std::lock_guard const guard(lock);
          isolate([&] {
            std::atomic<long> part{0};
            nigh::parallel_for(0, 16, [&](int k) {
              nigh::fork_join([&] { ++part; }, [&] { ++part; });
              if (k == 8) std::this_thread::yield();
            });
            sum += part;
          });
        });
    });
    EXPECT_EQ(sum, 12 * 32);
  }
}

// A thief takes tasks from outside, which want a lock, and tasks of the region, for which the
// thread that holds it waits. If it began with the former, nobody would come to the latter.
TEST(Isolation, AThiefOfSeveralTasksBeginsWithThoseOfTheRegion) {
  runtime rt({.machine = &four_by_two(), .workers = 2, .chunks = nigh::chunk_choice::half});
  rt.run([] {
    std::atomic<int> ran{0};
    std::atomic<bool> busy{false}, go{false};
    std::mutex lock;
    task_scope outside;
    outside.spawn([&] {
      busy = true;
      EXPECT_TRUE(comes([&] { return go.load(); }));
    });
    EXPECT_TRUE(comes([&] { return busy.load(); }));
    std::unique_lock guard(lock);
    for (int i = 0; i < 4; ++i)
      outside.spawn([&] {
        std::lock_guard const mine(lock);
        ++ran;
      });
    isolate([&] {
      task_scope within;
      for (int i = 0; i < 12; ++i) within.spawn([&] { ++ran; });
      nigh::blocking_scope const blocking;  // shares all of them
      go = true;
      EXPECT_TRUE(comes([&] { return ran > 0; }));
    });
    EXPECT_EQ(ran, 12);
    guard.unlock();
    outside.wait();
    EXPECT_EQ(ran, 16);
  });
}

TEST(Isolation, ReturnsAfterItsTasksWithTheResult) {
  runtime rt({.machine = &four_by_two(), .workers = 2});
  rt.run([] {
    std::atomic<int> ran{0};
    task_scope scope;
    int const result = isolate([&] {
      for (int i = 0; i < 100; ++i) scope.spawn([&] { ++ran; });
      return 5;
    });
    EXPECT_EQ(result, 5);
    EXPECT_EQ(ran, 100);
    EXPECT_THROW(isolate([] { throw std::runtime_error("out"); }), std::runtime_error);
    int value = 0;
    int& reference = isolate([&]() -> int& { return value; });
    EXPECT_EQ(&reference, &value);
  });
}

// Regions within regions, on workers, backup threads and threads from outside; with one worker the
// backup threads have to run what is queued.
TEST(Isolation, RegionsNestEverywhere) {
  auto const body = [] {
    std::atomic<int> ran{0};
    isolate([&] {
      nigh::fork_join([&] { isolate([&] { nigh::fork_join([&] { ++ran; }, [&] { ++ran; }); }); },
                      [&] {
                        nigh::child_task other([&] { ++ran; });
                        task_scope scope;
                        scope.spawn(near(0), [&] {
                          isolate([&] {
                            task_scope inner;
                            inner.spawn(near(0), [&] { ++ran; });
                          });
                        });
                        scope.wait();
                        other.join();
                      });
    });
    EXPECT_EQ(ran, 4);
    task_scope after;
    after.spawn(near(0), [&] { ++ran; });
    after.wait();
    EXPECT_EQ(ran, 5);
  };
  for (int const workers : {1, 2}) {
    runtime rt({.machine = &four_by_two(), .workers = workers});
    runtime cut(
        {.machine = &four_by_two(), .workers = workers, .depth_cutoff = 3, .count_tasks = true});
    for (int i = 0; i < 20; ++i) {
      rt.run(body);
      rt.invoke(body);
      cut.run(body);
      isolate([&] { rt.invoke(body); });
    }
  }
  for (int i = 0; i < 50; ++i) body();
}

// After a region forks are private and cheap again: none takes the slow path, which would count it.
TEST(Isolation, LeavesNothingBehind) {
  runtime rt({.machine = &four_by_two(), .workers = 2, .task_capacity = 64});
  rt.run([] {
    for (int i = 0; i < 100; ++i) isolate([] { nigh::parallel_for(0, 8, [](int) {}); });
    EXPECT_FALSE(nigh::detail::in_isolated_region());
    EXPECT_NE(nigh::detail::this_stack->limit, nigh::detail::this_stack->slots);
    auto const* const stack = nigh::detail::this_stack;
    for (nigh::detail::task_slot const* s = stack->top; s < stack->slots + stack->capacity; ++s)
      EXPECT_EQ(s->depth >> 31, 0u);
  });
}

}  // namespace
