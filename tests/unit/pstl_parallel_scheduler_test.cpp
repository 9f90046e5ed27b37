// SPDX-License-Identifier: Apache-2.0
// std::execution::parallel_scheduler of stdexec, with nigh as its back end.

#include <gtest/gtest.h>

#include <nigh/blocking_scope.hpp>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_scheduler.hpp>

#include <atomic>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ex = STDEXEC;

namespace {

TEST(ParallelScheduler, RunsOnAWorker) {
  auto [worker] = ex::sync_wait(ex::then(ex::schedule(ex::get_parallel_scheduler()), [] {
                    return nigh::this_worker::index();
                  })).value();
  EXPECT_GE(worker, 0);
  EXPECT_LT(worker, nigh::default_runtime().workers());
}

TEST(ParallelScheduler, ForksOnTheWorkerThatRunsIt) {
  auto [sum] = ex::sync_wait(ex::then(ex::schedule(ex::get_parallel_scheduler()), [] {
                 auto const [a, b] = nigh::fork_join([] { return 1; }, [] { return 2; });
                 return a + b;
               })).value();
  EXPECT_EQ(sum, 3);
}

TEST(ParallelScheduler, BulkCallsEachIndexOnce) {
  for (std::size_t const n : {0u, 1u, 7u, 1000u, 100'000u}) {
    std::vector<std::atomic<int>> calls(n), chunk_calls(n);
    auto const scheduler = ex::get_parallel_scheduler();
    ex::sync_wait(ex::bulk_unchunked(ex::schedule(scheduler), ex::par, n, [&](std::size_t i) { ++calls[i]; }));
    ex::sync_wait(ex::bulk_chunked(ex::schedule(scheduler), ex::par, n, [&](std::size_t begin, std::size_t end) {
      EXPECT_LT(begin, end);
      for (auto i = begin; i < end; ++i) ++chunk_calls[i];
    }));
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(calls[i], 1) << i << " of " << n;
      ASSERT_EQ(chunk_calls[i], 1) << i << " of " << n;
    }
  }
}

TEST(ParallelScheduler, BulkPassesValuesOnAndNests) {
  auto const scheduler = ex::get_parallel_scheduler();
  std::atomic<long> sum{0};
  auto outer = ex::bulk(ex::then(ex::schedule(scheduler), [] { return 3; }), ex::par, 20, [&](int, int factor) {
    nigh::blocking_scope const others_work;  // sync_wait() sleeps, and two workers might both
    ex::sync_wait(ex::bulk(ex::schedule(scheduler), ex::par, 10, [&](int j) { sum += factor * j; }));
  });
  auto [value] = ex::sync_wait(std::move(outer)).value();
  EXPECT_EQ(value, 3);
  EXPECT_EQ(sum, 20 * 3 * 45);
}

TEST(ParallelScheduler, AnExceptionReachesTheWaitingThread) {
  auto const scheduler = ex::get_parallel_scheduler();
  EXPECT_THROW(ex::sync_wait(ex::then(ex::schedule(scheduler), [] { throw std::out_of_range("this"); })), std::out_of_range);
}

struct StopReceiver {
  using receiver_concept = ex::receiver_t;
  ex::inplace_stop_token token;
  std::atomic<int>* outcome;  // 1: value, 2: stopped

  void set_value() && noexcept { *outcome = 1; }
  void set_error(std::exception_ptr) && noexcept { *outcome = 3; }
  void set_stopped() && noexcept { *outcome = 2; }
  auto get_env() const noexcept { return ex::prop{ex::get_stop_token, token}; }
};

TEST(ParallelScheduler, AStopBeforeTheTaskStopsIt) {
  for (bool const stops : {false, true}) {
    ex::inplace_stop_source source;
    if (stops) source.request_stop();
    std::atomic<int> outcome{0};
    auto operation = ex::connect(ex::schedule(ex::get_parallel_scheduler()), StopReceiver{source.get_token(), &outcome});
    ex::start(operation);
    while (outcome == 0) std::this_thread::yield();
    EXPECT_EQ(outcome, stops ? 2 : 1);
    nigh::default_runtime().wait();
  }
}

TEST(ParallelScheduler, SeveralThreadsStartOperations) {
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n)
        ex::sync_wait(ex::when_all(ex::then(ex::schedule(ex::get_parallel_scheduler()), [&] { ++ran; }),
                                   ex::then(ex::schedule(ex::get_parallel_scheduler()), [&] { ++ran; })));
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(ran, 4 * 200 * 2);
}

TEST(ParallelScheduler, SchedulersAreEqual) {
  EXPECT_EQ(ex::get_parallel_scheduler(), ex::get_parallel_scheduler());
}

}  // namespace
