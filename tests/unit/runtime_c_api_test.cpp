// SPDX-License-Identifier: Apache-2.0
// Each promise of nigh.h.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nigh/nigh.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <thread>
#include <vector>

#include "c_queues.hpp"

namespace {

using namespace nigh::tests;
using testing::HasSubstr;

// Tasks know their queue by their input.
struct Fib {
  nigh_task_queue* queue;
  int n;
};
void fib(void const* in, void* out) {
  auto const [queue, n] = as<Fib>(in);
  auto& result = *static_cast<std::int64_t*>(out);
  if (n < 2) {
    result = n;
    return;
  }
  std::int64_t x = -1, y = -1;
  Fib const left{queue, n - 1}, right{queue, n - 2};
  nigh_put(queue, fib, &left, sizeof left, &x);
  nigh_put(queue, fib, &right, sizeof right, &y);
  nigh_wait(queue);
  result = x + y;
}
TEST(CApi, FibonacciFromOutsideAndOnAWorker) {
  for (int workers : {1, 2, 4}) {
    auto const queue = queue_of(workers);
    EXPECT_EQ(nigh_workers(queue.get()), workers);
    Fib const root{queue.get(), 20};
    std::int64_t result = 0;
    EXPECT_EQ(nigh_run(queue.get(), fib, &root, sizeof root, &result), NIGH_OK);
    EXPECT_EQ(result, 6765);
    EXPECT_EQ(counters(queue).put, 21891u);  // calls that fib(20) makes
    fib(&root, &result);
    EXPECT_EQ(result, 6765);
    EXPECT_EQ(counters(queue).put, 2 * 21891u - 1);
    EXPECT_EQ(counters(queue).finished, counters(queue).put);
    EXPECT_EQ(nigh_is_empty(queue.get()), 1);
  }
}

struct Check {
  static void none(void const* in, void* out) { *static_cast<int*>(out) = in == nullptr; }
  static void four(void const* in, void* out) { *static_cast<int*>(out) = as<int>(in); }
  template <std::size_t n>
  static void bytes(void const* in, void* out) {
    auto const* const b = static_cast<unsigned char const*>(in);
    int right = reinterpret_cast<std::uintptr_t>(in) % alignof(std::max_align_t) == 0;
    for (std::size_t i = 0; i < n; ++i) right &= b[i] == i % 251;
    *static_cast<int*>(out) = right;
  }
};

TEST(CApi, InputsAreCopiedAndCarried) {
  auto const queue = queue_of(4);
  constexpr std::size_t rounds = 300;
  std::vector<std::array<int, 6>> out(rounds);
  std::vector<unsigned char> in(10'000);
  for (std::size_t r = 0; r < rounds; ++r) {
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i % 251);
    int n = static_cast<int>(r);
    auto& o = out[r];
    nigh_put(queue.get(), Check::none, nullptr, 0, &o[0]);
    nigh_put(queue.get(), Check::four, &n, sizeof n, &o[1]);
    nigh_put(queue.get(), Check::bytes<24>, in.data(), 24, &o[2]);
    nigh_put(queue.get(), Check::bytes<25>, in.data(), 25, &o[3]);
    nigh_put(queue.get(), Check::bytes<80>, in.data(), 80, &o[4]);
    nigh_put(queue.get(), Check::bytes<10'000>, in.data(), 10'000, &o[5]);
    n = -1;
    std::fill(in.begin(), in.end(), std::uint8_t{255});
  }
  nigh_wait(queue.get());
  for (std::size_t r = 0; r < rounds; ++r) {
    EXPECT_THAT(out[r], testing::ElementsAre(1, static_cast<int>(r), 1, 1, 1, 1));
  }
  EXPECT_EQ(counters(queue).allocated + counters(queue).serialized, 3 * rounds);
}

// A worker of the queue that has gone on into another runtime.
struct FibElsewhere {
  nigh_task_queue* queue;
  nigh::runtime* elsewhere;
  bool puts;
};
void fib_elsewhere(void const* in, void* out) {
  auto const [queue, elsewhere, puts] = as<FibElsewhere>(in);
  elsewhere->invoke([&] {
    Fib const root{queue, 15};
    if (!puts) {
      EXPECT_EQ(nigh_run(queue, fib, &root, sizeof root, out), NIGH_OK);
      return;
    }
    EXPECT_EQ(nigh_put(queue, fib, &root, sizeof root, out), NIGH_OK);
    EXPECT_EQ(nigh_wait(queue), NIGH_OK);
  });
}
TEST(CApi, AWorkerInAnotherRuntimeRunsWhatItPuts) {
  auto const queue = queue_of(1);
  nigh::runtime elsewhere(1);
  for (bool const puts : {false, true}) {
    FibElsewhere const root{queue.get(), &elsewhere, puts};
    std::int64_t result = 0;
    EXPECT_EQ(nigh_run(queue.get(), fib_elsewhere, &root, sizeof root, &result), NIGH_OK);
    EXPECT_EQ(result, 610);
  }
}

// A task on a slot of another queue, whose thread goes home from there, and into that queue once more.
struct Return {
  nigh_task_queue *home, *away;
  std::atomic<bool> is_worker_busy{false}, may_end{false}, has_put{false}, has_ended{false};
  std::atomic<int> ran{0};
  bool was_left_alone = true;
};
void keep_busy(void const* in, void*) {
  auto& r = *as<Return*>(in);
  r.is_worker_busy = true;
  while (!r.may_end) std::this_thread::yield();
}
void count(void const* in, void*) { ++as<Return*>(in)->ran; }
void put_away_and_wait(void const* in, void*) {
  auto* const r = as<Return*>(in);
  EXPECT_EQ(nigh_put(r->away, count, &r, sizeof r, nullptr), NIGH_OK);
  EXPECT_EQ(nigh_wait(r->away), NIGH_OK);
}
// Waits for its own tasks, of which it has none, while another thread's lies on that one's slot.
void go_home_and_wait(void const* in, void*) {
  auto* const r = as<Return*>(in);
  EXPECT_EQ(nigh_run(r->home, put_away_and_wait, &r, sizeof r, nullptr), NIGH_OK);
  int const before = r->ran;
  std::thread other([r] {
    EXPECT_EQ(nigh_put(r->away, count, &r, sizeof r, nullptr), NIGH_OK);
    r->has_put = true;
    while (!r->has_ended) std::this_thread::yield();
    EXPECT_EQ(nigh_wait(r->away), NIGH_OK);
  });
  while (!r->has_put) std::this_thread::yield();
  EXPECT_EQ(nigh_wait(r->away), NIGH_OK);
  r->was_left_alone = r->ran == before;
  r->has_ended = true;
  other.join();
}
void go_away(void const* in, void*) {
  auto* const r = as<Return*>(in);
  EXPECT_EQ(nigh_put(r->away, go_home_and_wait, &r, sizeof r, nullptr), NIGH_OK);
  EXPECT_EQ(nigh_wait(r->away), NIGH_OK);
}
TEST(CApi, AWorkerThatComesHomeKeepsItsSlotElsewhere) {
  auto const home = queue_of(1), away = queue_of(1);
  Return r{home.get(), away.get()};
  auto* const at = &r;
  EXPECT_EQ(nigh_put(away.get(), keep_busy, &at, sizeof at, nullptr), NIGH_OK);
  while (!r.is_worker_busy) std::this_thread::yield();  // nobody else takes tasks there
  EXPECT_EQ(nigh_run(home.get(), go_away, &at, sizeof at, nullptr), NIGH_OK);
  r.may_end = true;
  EXPECT_EQ(nigh_wait(away.get()), NIGH_OK);
  EXPECT_TRUE(r.was_left_alone);
  EXPECT_EQ(r.ran, 2);
}

// The input of a task that runs inline is a copy too: it may be written through `out`.
TEST(CApi, FullStackRunsInline) {
  auto o = four_workers();
  o.workers = 1;
  o.task_capacity = 10;
  auto const queue = made(o);
  struct Put {
    nigh_task_queue* queue;
    int tasks;
    static void increment_twice(void const* in, void* out) {
      auto& n = *static_cast<int*>(out);
      n = as<int>(in) + 1;
      n = as<int>(in) + 2;
    }
    static void run(void const* in, void*) {
      auto const [queue, tasks] = as<Put>(in);
      std::vector<int> numbers(static_cast<std::size_t>(tasks), 0);
      for (int& n : numbers) nigh_put(queue, increment_twice, &n, sizeof n, &n);
      EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 2), tasks - 10);
      nigh_wait(queue);
      EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 2), tasks);
    }
  };
  Put const put{queue.get(), 1000};
  EXPECT_EQ(nigh_run(queue.get(), Put::run, &put, sizeof put, nullptr), NIGH_OK);
  EXPECT_EQ(counters(queue).serialized, 990u);
}

TEST(CApi, ManyPutsFromOutside) {
  auto const queue = queue_of(4);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100'000; ++i)
    ASSERT_EQ(nigh_put(queue.get(), add_one, nullptr, 0, &ran), NIGH_OK);
  EXPECT_EQ(nigh_wait(queue.get()), NIGH_OK);
  EXPECT_EQ(ran, 100'000);
  EXPECT_EQ(nigh_is_empty(queue.get()), 1);
}

// Workers begin with what an outside thread has put, without its waiting.
TEST(CApi, OutsideTasksRunWithoutTheirThread) {
  auto const queue = queue_of(2);
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; ++i) nigh_put(queue.get(), add_one, nullptr, 0, &ran);
  while (nigh_is_empty(queue.get()) == 0) std::this_thread::yield();
  EXPECT_EQ(ran, 10);
  EXPECT_EQ(nigh_execute(queue.get()), 0);
  EXPECT_EQ(nigh_task_queue_free(queue.get()), NIGH_BUSY);
  EXPECT_THAT(nigh_error(), HasSubstr("nigh_wait"));
  EXPECT_EQ(nigh_wait(queue.get()), NIGH_OK);
}

TEST(CApi, ExecuteAndStealByHand) {
  auto const queue = queue_of(1);
  Gate gate;
  Gate* const at = &gate;
  nigh_put(queue.get(), pass, &at, sizeof at, nullptr);
  while (!gate.reached) std::this_thread::yield();  // the one worker is busy from here on
  EXPECT_EQ(nigh_is_empty(queue.get()), 0);
  EXPECT_EQ(nigh_execute(queue.get()), 0);  // stolen

  std::atomic<int> ran{0};
  for (int i = 0; i < 3; ++i) nigh_put(queue.get(), add_one, nullptr, 0, &ran);
  std::thread([&] {
    EXPECT_EQ(nigh_execute(queue.get()), 0);  // it has put nothing
    EXPECT_EQ(nigh_steal(queue.get()), 1);
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(nigh_wait(queue.get()), NIGH_OK);
  }).join();
  EXPECT_EQ(nigh_execute(queue.get()), 1);
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(nigh_execute(queue.get()), 1);
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(nigh_execute(queue.get()), 0);
  EXPECT_EQ(nigh_steal(queue.get()), 0);
  EXPECT_EQ(nigh_is_empty(queue.get()), 0);
  gate.open = true;
  EXPECT_EQ(nigh_wait(queue.get()), NIGH_OK);
  EXPECT_EQ(nigh_is_empty(queue.get()), 1);
}

// wait() inside a task joins that task's children, and leaves those of its parent alone.
TEST(CApi, WaitsForTheCallingTasksOwn) {
  auto const queue = queue_of(1);
  struct Nested {
    nigh_task_queue* queue;
    std::atomic<int>* older;
    static void child(void const* in, void*) {
      auto const [queue, older] = as<Nested>(in);
      std::atomic<int> mine{0};
      nigh_put(queue, add_one, nullptr, 0, &mine);
      nigh_wait(queue);
      EXPECT_EQ(mine, 1);
      EXPECT_EQ(*older, 0);
      EXPECT_EQ(nigh_execute(queue), 0);
    }
    static void root(void const* in, void*) {
      auto const [queue, older] = as<Nested>(in);
      nigh_put(queue, add_one, nullptr, 0, older);
      nigh_put(queue, child, in, sizeof(Nested), nullptr);
      EXPECT_EQ(nigh_execute(queue), 1);  // the child
      EXPECT_EQ(*older, 0);
      nigh_wait(queue);
      EXPECT_EQ(*older, 1);
    }
  };
  std::atomic<int> older{0};
  Nested const nested{queue.get(), &older};
  nigh_run(queue.get(), Nested::root, &nested, sizeof nested, nullptr);
}

// A task that does not wait for what it has put leaves that to who waits for it.
TEST(CApi, WaitIncludesDescendants) {
  struct Tree {
    nigh_task_queue* queue;
    int height;
    static void grow(void const* in, void* out) {
      auto const [queue, height] = as<Tree>(in);
      add_one(nullptr, out);
      Tree const lower{queue, height - 1};
      for (int i = 0; i < 3 && height > 0; ++i) nigh_put(queue, grow, &lower, sizeof lower, out);
    }
  };
  for (int workers : {1, 4}) {
    auto const queue = queue_of(workers);
    std::atomic<int> nodes{0};
    Tree const tree{queue.get(), 8};
    nigh_put(queue.get(), Tree::grow, &tree, sizeof tree, &nodes);
    nigh_wait(queue.get());
    EXPECT_EQ(nodes, 9841);
    nigh_run(queue.get(), Tree::grow, &tree, sizeof tree, &nodes);
    EXPECT_EQ(nodes, 2 * 9841);
  }
}

TEST(CApi, DeepRecursion) {
  struct Chain {
    nigh_task_queue* queue;
    int left;
    static void next(void const* in, void* out) {
      auto const [queue, left] = as<Chain>(in);
      if (left == 0) return;
      Chain const rest{queue, left - 1};
      int below = 0;
      nigh_put(queue, next, &rest, sizeof rest, &below);
      nigh_wait(queue);
      *static_cast<int*>(out) = below + 1;
    }
  };
  auto const queue = queue_of(2);
  Chain const chain{queue.get(), 5'000};
  int length = 0;
  nigh_run(queue.get(), Chain::next, &chain, sizeof chain, &length);
  EXPECT_EQ(length, 5'000);
}

TEST(CApi, SeveralThreadsOutside) {
  auto const queue = queue_of(2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Fib const root{queue.get(), 10 + i % 4};
        std::int64_t result = 0;
        if (i % 2 == 0)
          nigh_put(queue.get(), fib, &root, sizeof root, &result);
        else
          nigh_run(queue.get(), fib, &root, sizeof root, &result);
        nigh_wait(queue.get());
        EXPECT_EQ(result, (std::array{55, 89, 144, 233}[static_cast<std::size_t>(i % 4)]));
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(nigh_is_empty(queue.get()), 1);
}

// A thread that ends without waiting waits for what it has put.
TEST(CApi, ThreadEndsWithTasks) {
  auto const queue = queue_of(1);
  std::atomic<int> ran{0};
  std::thread([&] {
    for (int i = 0; i < 50; ++i) nigh_put(queue.get(), add_one, nullptr, 0, &ran);
  }).join();
  EXPECT_EQ(ran, 50);
}

// The same in destructors of thread_local variables, which may come after nigh's own.
struct LastPut {
  nigh_task_queue* queue = nullptr;
  std::atomic<int>* ran = nullptr;
  ~LastPut() {
    if (queue != nullptr) nigh_put(queue, add_one, nullptr, 0, ran);
  }
};
TEST(CApi, ThreadEndsWithTasksOfItsDestructors) {
  std::atomic<int> ran{0};
  auto queue = queue_of(1);
  std::thread([&] {
    thread_local LastPut last;
    last.queue = queue.get();
    last.ran = &ran;
    nigh_put(queue.get(), add_one, nullptr, 0, &ran);
    nigh_wait(queue.get());
  }).join();
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(nigh_task_queue_free(queue.release()), NIGH_OK);
}

TEST(CApi, OneThreadTwoQueues) {
  auto const a = queue_of(1), b = queue_of(2);
  std::atomic<int> in_a{0}, in_b{0};
  for (int i = 0; i < 100; ++i) {
    nigh_put(a.get(), add_one, nullptr, 0, &in_a);
    nigh_put(b.get(), add_one, nullptr, 0, &in_b);
  }
  nigh_wait(a.get());
  EXPECT_EQ(in_a, 100);
  nigh_wait(b.get());
  EXPECT_EQ(in_b, 100);

  // A task of one that uses the other, which uses the first.
  struct Across {
    nigh_task_queue *here, *there;
    int depth;
    static void go(void const* in, void* out) {
      auto const [here, there, depth] = as<Across>(in);
      add_one(nullptr, out);
      if (depth == 0) return;
      Across const next{there, here, depth - 1};
      nigh_put(there, go, &next, sizeof next, out);
      nigh_put(there, go, &next, sizeof next, out);
      nigh_wait(there);
      if (depth % 3 == 0) nigh_run(there, go, &next, sizeof next, out);
    }
  };
  std::atomic<int> steps{0};
  Across const across{a.get(), b.get(), 3};
  nigh_run(a.get(), Across::go, &across, sizeof across, &steps);
  EXPECT_EQ(steps, 22);
}

TEST(CApi, QueuesOnTheDefaultRuntime) {
  Queue const a(nigh_task_queue_allocate(nullptr)), b(nigh_task_queue_allocate(nullptr));
  ASSERT_NE(a, nullptr) << nigh_error();
  std::atomic<int> ran{0};
  nigh_put(a.get(), add_one, nullptr, 0, &ran);
  nigh_put(b.get(), add_one, nullptr, 0, &ran);
  nigh_wait(a.get());
  nigh_wait(b.get());
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(counters(a).put, 1u);
  EXPECT_EQ(counters(b).put, 1u);
}

TEST(CApi, CutoffsRunInline) {
  auto o = four_workers();
  o.depth_cutoff = 3;
  auto const queue = made(o);
  Fib const root{queue.get(), 15};
  std::int64_t result = 0;
  nigh_run(queue.get(), fib, &root, sizeof root, &result);
  EXPECT_EQ(result, 610);
  EXPECT_EQ(counters(queue).put, 1973u);
  EXPECT_EQ(counters(queue).serialized, 1973u - 1 - 2 - 4 - 8);
}

// In C++ code: what a fork or a scope has spawned may be run by the wait, and is not lost.
TEST(CApi, BesideForksAndScopes) {
  Queue const queue(nigh_task_queue_allocate(nullptr));
  std::atomic<int> ran{0};
  auto const put_and_wait = [&] {
    for (int i = 0; i < 10; ++i) nigh_put(queue.get(), add_one, nullptr, 0, &ran);
    nigh_wait(queue.get());
  };
  auto const put_only = [&] { nigh_put(queue.get(), add_one, nullptr, 0, &ran); };
  for (int i = 0; i < 100; ++i) {
    ran = 0;
    nigh::fork_join(put_and_wait, put_only, put_and_wait, put_only);
    EXPECT_EQ(ran, 22);
    {
      nigh::task_scope scope;
      put_only();
      scope.spawn(put_and_wait);
      nigh_wait(queue.get());
      scope.spawn(put_only);
      scope.spawn(put_and_wait);
    }
    EXPECT_EQ(ran, 44);
    nigh::default_runtime().run([&] {
      put_only();
      nigh::task_scope scope;
      nigh_wait(queue.get());
      scope.spawn(put_only);
    });
    EXPECT_EQ(ran, 46);
  }
}

}  // namespace
