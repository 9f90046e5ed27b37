// SPDX-License-Identifier: Apache-2.0
// Tasks that come to a runtime from outside, and that go there.

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <nigh/fork_join.hpp>
#include <nigh/task_scope.hpp>
#include <thread>
#include <vector>

#include "fib.hpp"
#include "runtime/scheduler.hpp"
#include "runtime/work_source.hpp"

namespace {

using nigh::tests::fib;
using namespace nigh;

// Brings what it has been given, and nothing else.
class Script : public tasks::WorkSource {
 public:
  bool find(detail::task& t) noexcept override {
    std::lock_guard const guard(lock_);
    if (waiting_.empty()) return false;
    t = waiting_.back();
    waiting_.pop_back();
    size_.store(waiting_.size());
    return true;
  }
  bool in_sight() const noexcept override { return size_.load() > 0; }
  void put(detail::task t) {
    std::lock_guard const guard(lock_);
    waiting_.push_back(t);
    size_.store(waiting_.size());
  }

 private:
  std::mutex lock_;
  std::vector<detail::task> waiting_;
  std::atomic<std::size_t> size_{0};
};

runtime_options with_workers(int n) {
  runtime_options options;
  options.workers = n;
  return options;
}

std::size_t one(std::size_t) { return 1; }

// Until `done`, takes tasks, runs them here and says so.
std::uint64_t take_all(tasks::Scheduler& host, std::atomic<bool> const& done) {
  std::uint64_t taken = 0;
  while (!done.load()) {
    tasks::ExternalThief::Taken got;
    if (!host.external_thief().take(got, one)) {
      std::this_thread::yield();
      continue;
    }
    auto& slot = *got.tasks.first;
    slot.call(slot, nullptr);
    host.external_thief().finish(*got.victim, slot);
    ++taken;
  }
  return taken;
}

TEST(Outside, WakesASleeperForWhatItBrings) {
  Script script;
  tasks::Scheduler host(with_workers(1), script);
  std::atomic<int> ran{0};
  for (int i = 0; i < 3; ++i) {
    // Long enough for the worker to fall asleep, in some of the rounds at least.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    script.put(detail::make_task([&ran] { ++ran; }));
    host.external_thief().call_workers();
    while (ran.load() <= i) std::this_thread::yield();
  }
  host.wait();
  EXPECT_EQ(ran.load(), 3);
}

TEST(Outside, GetsTheTasksOfASingleWorker) {
  Script script;
  tasks::Scheduler host(with_workers(1), script);
  std::atomic<bool> went{false}, done{false};
  host.submit(near{}, detail::make_task([&] {
                // The first waits for the second, which nobody in this runtime can run meanwhile.
                fork_join(
                    [&] {
                      while (!went.load()) std::this_thread::yield();
                    },
                    [&] { went.store(true); });
                done.store(true);
              }));
  EXPECT_EQ(take_all(host, done), 1u);
  host.wait();
}

// Each task runs once: exported ones, returned ones, and those that must run here after all.
TEST(Outside, SharesWorkWithThoseInside) {
  Script script;
  tasks::Scheduler host(with_workers(0), script);
  std::atomic<bool> done{false};
  std::atomic<long> result{0};
  host.submit(near{}, detail::make_task([&] {
                result.store(fib(22));
                done.store(true);
              }));
  for (bool keep = true; !done.load(); keep = !keep) {
    tasks::ExternalThief::Taken got;
    if (!host.external_thief().take(got, one)) {
      std::this_thread::yield();
      continue;
    }
    auto& slot = *got.tasks.first;
    if (keep) {
      slot.call(slot, nullptr);
      host.external_thief().finish(*got.victim, slot);
    } else {
      script.put(tasks::ExternalThief::task_for_here(*got.victim, slot));
      host.external_thief().call_workers();
    }
  }
  host.wait();
  EXPECT_EQ(result.load(), 17711);
}

// Tasks that came from outside fork others that may go there. Threads of the program, and detached tasks, fork
// resident ones, on whichever thread they run.
class ResidentTasks : public testing::Test {
 protected:
  // `on` gets a function that forks a task, and has it called; the task is taken here.
  template <class On>
  bool is_resident(On on) {
    std::atomic<bool> went{false}, done{false};
    on([&] {
      fork_join(
          [&] {
            while (!went.load()) std::this_thread::yield();
          },
          [&] { went.store(true); });
      done.store(true);
    });
    tasks::ExternalThief::Taken got;
    while (!host_.external_thief().take(got, one)) std::this_thread::yield();
    auto& slot = *got.tasks.first;
    bool const is = tasks::ExternalThief::is_resident(slot);
    slot.call(slot, nullptr);
    host_.external_thief().finish(*got.victim, slot);
    while (!done.load()) std::this_thread::yield();
    return is;
  }
  template <class F>
  void import(F f) {
    script_.put(detail::make_task(std::move(f)));
    host_.external_thief().call_workers();
  }

  Script script_;
  runtime workers_ = detail::runtime_access::made(with_workers(1), script_);
  tasks::Scheduler& host_ = detail::runtime_access::scheduler(workers_);
};

TEST_F(ResidentTasks, AreThoseOfTheProgramsOwnThreads) {
  std::thread own;
  EXPECT_TRUE(is_resident([&](auto forks) {
    own = std::thread([this, forks] { workers_.invoke(forks); });
  }));
  own.join();
  EXPECT_TRUE(is_resident([&](auto forks) {
    own = std::thread([this, forks] { workers_.run(forks); });
  }));
  own.join();
  EXPECT_TRUE(is_resident([&](auto forks) {
    own = std::thread([this, forks] {
      task_scope scope(workers_);
      scope.spawn(near{0}, forks);
      scope.wait();
    });
  }));
  own.join();
}

TEST_F(ResidentTasks, AreThoseOfDetachedTasks) {
  EXPECT_TRUE(is_resident([&](auto forks) { workers_.spawn(forks); }));
  EXPECT_TRUE(is_resident([&](auto forks) {
    import([this, forks] { workers_.spawn(forks); });
  }));
}

TEST_F(ResidentTasks, AreNotThoseThatCameFromOutside) {
  EXPECT_FALSE(is_resident([&](auto forks) { import(forks); }));
  EXPECT_FALSE(is_resident([&](auto forks) {
    import([this, forks] {
      task_scope scope(workers_);
      scope.spawn(near{0}, forks);
      scope.wait();
    });
  }));
}

// Also in the slots where resident tasks were before.
TEST_F(ResidentTasks, LeaveNoMark) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(is_resident([&](auto forks) { workers_.spawn(forks); }));
    EXPECT_FALSE(is_resident([&](auto forks) { import(forks); }));
  }
}

TEST(Outside, IsAskedForMoreByNobodyWhoHasWork) {
  Script script;
  tasks::Scheduler host(with_workers(1), script);
  std::atomic<bool> began{false}, ends{false};
  host.submit(near{}, detail::make_task([&] {
                began.store(true);
                while (!ends.load()) std::this_thread::yield();
              }));
  while (!began.load()) std::this_thread::yield();
  EXPECT_FALSE(host.external_thief().has_idle_workers());
  ends.store(true);
  host.wait();
  while (!host.external_thief().has_idle_workers()) std::this_thread::yield();
}

}  // namespace
