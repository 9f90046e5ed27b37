// SPDX-License-Identifier: Apache-2.0
// Threads from outside that compute with a runtime: in the place of a worker, not beside it.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <nigh/blocking_scope.hpp>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <thread>

#include "fib.hpp"
#include "synthetic.hpp"

namespace {

using nigh::runtime;
using std::chrono::milliseconds;

auto const machine = nigh::tests::synthetic("pack:1 numa:1 core:4 pu:1");
nigh::runtime_options workers(int n) { return {.machine = &machine, .workers = n}; }

// How many threads compute at a time, at most.
class Computing {
 public:
  // For some 50 us.
  void operator()() {
    int const now = ++count_;
    for (int most = most_; most < now && !most_.compare_exchange_weak(most, now);) {
    }
    auto const end = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
    while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
    --count_;
  }
  int most() const { return most_; }

 private:
  std::atomic<int> count_{0}, most_{0};
};

template <class Work>
int most_at_once(int n, Work work) {
  runtime rt(workers(n));
  Computing compute;
  for (int round = 0; round < 12; ++round) {
    work(rt, compute);
    // Sometimes the workers sleep at the next round, and sometimes they are awake.
    if (round % 4 == 0) std::this_thread::sleep_for(milliseconds(3));
  }
  return compute.most();
}

TEST(Callers, ALoopComputesOnNoMoreThreadsThanThereAreWorkers) {
  auto const loop = [](runtime& rt, Computing& compute) {
    nigh::parallel_for(0, 40, [&](int) { compute(); }, {.where = &rt, .grain = 1});
  };
  EXPECT_EQ(most_at_once(1, loop), 1);
  EXPECT_LE(most_at_once(2, loop), 2);
  EXPECT_LE(most_at_once(4, loop), 4);
}

TEST(Callers, ForksDoNot) {
  auto const forks = [](runtime& rt, Computing& compute) {
    rt.invoke([&] {
      nigh::fork_join([&] { compute(); }, [&] { compute(); }, [&] { compute(); },
                      [&] { compute(); }, [&] { compute(); }, [&] { compute(); });
    });
  };
  EXPECT_EQ(most_at_once(1, forks), 1);
  EXPECT_LE(most_at_once(2, forks), 2);
}

TEST(Callers, ScopesDoNot) {
  auto const spawns = [](runtime& rt, Computing& compute) {
    nigh::task_scope scope(rt);
    for (int i = 0; i < 20; ++i) {
      scope.spawn([&] { compute(); });
      compute();
    }
  };
  EXPECT_EQ(most_at_once(1, spawns), 1);
  EXPECT_LE(most_at_once(2, spawns), 2);
}

// Queued tasks are for workers: the caller makes room when it waits for them.
TEST(Callers, TasksNearDataDoNot) {
  auto const spawns = [](runtime& rt, Computing& compute) {
    nigh::task_scope scope(rt);
    for (int i = 0; i < 10; ++i) {
      scope.spawn(nigh::near(0), [&] { compute(); });
      compute();
    }
  };
  EXPECT_EQ(most_at_once(1, spawns), 1);
  EXPECT_LE(most_at_once(2, spawns), 2);
}

TEST(Callers, SeveralTakeThePlacesOfSeveralWorkers) {
  auto const callers = [](runtime& rt, Computing& compute) {
    auto const loop = [&] {
      nigh::parallel_for(0, 20, [&](int) { compute(); }, {.where = &rt, .grain = 1});
    };
    std::atomic<int> inside{0};
    auto const call = [&] {
      rt.invoke([&] {
        ++inside;
        while (inside < 2) std::this_thread::yield();  // both are there before one begins
        loop();
      });
    };
    std::thread other(call);
    call();
    other.join();
  };
  EXPECT_LE(most_at_once(2, callers), 2);
  EXPECT_LE(most_at_once(4, callers), 4);
}

// ---- and nobody waits for ever

TEST(Callers, TheWorkerIsBackWhenTheCallerHasGone) {
  runtime rt(workers(1));
  for (int i = 0; i < 200; ++i) {
    std::atomic<bool> ran{false};
    rt.invoke([&] {
      rt.spawn([&] { ran = true; });
      EXPECT_EQ(nigh::tests::fib(10), 55);
    });
    while (!ran) std::this_thread::yield();
  }
  rt.wait();
}

TEST(Callers, ACallerMayWaitForQueuedTasks) {
  runtime rt(workers(1));
  auto const began = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    int ran = 0;
    rt.invoke([&] {
      rt.spawn([&] { ++ran; });
      rt.wait();
    });
    EXPECT_EQ(ran, 1);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began,
            std::chrono::seconds(1));  // no look is awaited
}

// The only worker of `a` waits for `b`, whose only worker waits for a task of `a`.
TEST(Callers, AWorkerMayWaitForAnotherRuntimeThatWaitsForItsOwn) {
  auto const one_cpu = nigh::tests::synthetic("pack:1 numa:1 core:1 pu:1");
  runtime a({.machine = &one_cpu}), b({.machine = &one_cpu});
  bool ran = false;
  a.run([&] {
    b.run([&] {
      nigh::task_scope scope(a);
      scope.spawn(nigh::near(0), [&] { ran = true; });
      scope.wait();
    });
  });
  EXPECT_TRUE(ran);
}

TEST(Callers, ABlockingScopeLetsTheWorkerGoOn) {
  runtime rt(workers(1));
  rt.invoke([&] {
    std::promise<int> made;
    nigh::task_scope scope;
    scope.spawn([&] { made.set_value(7); });
    nigh::blocking_scope const blocks;
    nigh::blocking_scope const again;  // does nothing
    EXPECT_EQ(made.get_future().get(), 7);
  });
}

// As programs do that know nothing of it.
TEST(Callers, ACallerThatBlocksWithoutAWordHoldsOffNobodyForLong) {
  runtime rt(workers(1));
  rt.invoke([&] {
    std::promise<int> made;
    nigh::task_scope scope;
    scope.spawn([&] { made.set_value(7); });
    EXPECT_EQ(made.get_future().get(), 7);
    std::promise<int> queued;
    rt.spawn([&] { queued.set_value(8); });
    EXPECT_EQ(queued.get_future().get(), 8);
  });
}

TEST(Callers, OtherThreadsTasksRunOnWorkersThatAreNotDisplaced) {
  runtime rt(workers(2));
  std::atomic<bool> stop{false};
  std::thread spinning([&] {
    rt.invoke([&] {
      while (!stop) std::this_thread::yield();
    });
  });
  for (int i = 0; i < 100; ++i) {
    std::atomic<bool> ran{false};
    rt.spawn([&] { ran = true; });
    while (!ran) std::this_thread::yield();
  }
  stop = true;
  spinning.join();
}

// Nobody else could take what it queues there.
TEST(Callers, AWorkerThatComesBackFromAnotherRuntimeIsItselfThere) {
  runtime home(workers(1)), away(workers(1));
  std::atomic<int> ran{0};
  auto const queue_one = [&] {
    nigh::task_scope scope(home);
    scope.spawn(nigh::near(0), [&] { ++ran; });
  };
  home.run([&] {
    nigh::fork_join([&] { ++ran; }, [&] { away.invoke(queue_one); });
    away.invoke([&] { home.invoke([&] { away.invoke(queue_one); }); });
    away.invoke([&] { home.spawn([&] { ++ran; }); });
  });
  home.invoke([] {});
  while (ran < 4) std::this_thread::yield();
  EXPECT_EQ(ran, 4);
}

}  // namespace
