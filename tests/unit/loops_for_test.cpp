// SPDX-License-Identifier: Apache-2.0
// The promises of <nigh/parallel_for.hpp>.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_sort.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using nigh::index_range;
using nigh::parallel_for;
using nigh::schedule;

std::vector<schedule> schedules() {
  return {nigh::static_schedule(), nigh::static_schedule(3),  nigh::dynamic_schedule(2),
          nigh::guided_schedule(), nigh::adaptive_schedule(), nigh::local_schedule()};
}

// Two domains of two, on whatever machine this runs.
nigh::topology const& two_by_two() {
  static auto const one = nigh::topology::from_synthetic("pack:2 [numa] core:2 pu:1").value();
  return one;
}
nigh::runtime_options four_workers() {
  nigh::runtime_options options;
  options.machine = &two_by_two();
  return options;
}

class Loops : public testing::TestWithParam<int> {
 protected:
  schedule how = schedules()[static_cast<std::size_t>(GetParam())];
  nigh::runtime runtime{four_workers()};

  nigh::loop_options options() {
    nigh::loop_options o;
    o.how = how;
    o.where = &runtime;
    return o;
  }
};

TEST_P(Loops, CallTheBodyOncePerIteration) {
  for (std::size_t n : {0u, 1u, 2u, 3u, 4u, 5u, 17u, 1000u, 10'007u}) {
    std::vector<std::atomic<int>> calls(n);
    parallel_for(std::size_t{0}, n, [&](std::size_t i) { calls[i].fetch_add(1); }, options());
    for (auto const& c : calls) ASSERT_EQ(c.load(), 1);
    parallel_for(
        std::size_t{0}, n,
        [&](index_range r) {
          ASSERT_LT(r.begin, r.end);
          for (auto i = r.begin; i < r.end; ++i) calls[i].fetch_add(1);
        },
        options());
    for (auto const& c : calls) ASSERT_EQ(c.load(), 2);
  }
}

TEST_P(Loops, WorkFromWorkersAndInTasks) {
  std::vector<std::atomic<int>> calls(5000);
  runtime.run([&] {
    nigh::fork_join(
        [&] { parallel_for(0, 2500, [&](int i) { ++calls[std::size_t(i)]; }, how); },
        [&] { parallel_for(2500, 5000, [&](int i) { ++calls[std::size_t(i)]; }, how); });
  });
  for (auto const& c : calls) ASSERT_EQ(c.load(), 1);
}

TEST_P(Loops, Nest) {
  std::vector<std::atomic<int>> calls(40 * 40 * 40);
  parallel_for(
      0, 40,
      [&](int i) {
        parallel_for(
            0, 40,
            [&](int j) {
              parallel_for(0, 40, [&](int k) { ++calls[std::size_t((i * 40 + j) * 40 + k)]; }, how);
            },
            how);
      },
      options());
  for (auto const& c : calls) ASSERT_EQ(c.load(), 1);
}

TEST_P(Loops, WaitForScopesWithinTheirBodies) {
  std::atomic<int> sum{0};
  parallel_for(
      0, 200,
      [&](int) {
        nigh::task_scope scope;
        for (int k = 0; k < 10; ++k) scope.spawn([&] { ++sum; });
      },
      options());
  EXPECT_EQ(sum.load(), 2000);
}

TEST_P(Loops, RethrowAndBeginNothingMore) {
  std::atomic<int> calls{0};
  for (int round = 0; round < 20; ++round) {
    calls = 0;
    try {
      parallel_for(
          0, 1'000'000,
          [&](int i) {
            ++calls;
            if (i % 100 == 7) throw std::runtime_error("iteration " + std::to_string(i));
          },
          options());
      FAIL() << "nothing was thrown";
    } catch (std::runtime_error const& e) {
      EXPECT_EQ(std::string(e.what()).substr(0, 10), "iteration ");
    }
    EXPECT_LT(calls.load(), 1'000'000);
  }
  parallel_for(0, 10, [&](int) {}, options());  // and nothing is left behind
}

TEST_P(Loops, EndEarlyWhenABodyLeaves) {
  std::atomic<int> calls{0};
  parallel_for(
      0, 1'000'000,
      [&](int) {
        ++calls;
        return nigh::loop_flow::leave;
      },
      options());
  EXPECT_GE(calls.load(), 1);
  EXPECT_LE(calls.load(), 5);  // no thread calls it twice: four workers and the caller
}

TEST_P(Loops, EndEarlyWhenAskedToStop) {
  nigh::task_scope scope(runtime);
  auto o = options();
  o.stop = scope.token();
  scope.request_stop();
  std::atomic<int> calls{0};
  parallel_for(0, 1'000'000, [&](int) { ++calls; }, o);
  EXPECT_EQ(calls.load(), 0);
}

TEST_P(Loops, KeepPiecesOnTheGrain) {
  auto o = options();
  o.grain = 16;
  for (int n : {1, 15, 16, 17, 1000, 1024}) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(n));
    parallel_for(
        0, n,
        [&](index_range r) {
          EXPECT_EQ(r.begin % 16, 0u);
          EXPECT_TRUE(r.end % 16 == 0 || r.end == static_cast<std::size_t>(n));
          for (auto i = r.begin; i < r.end; ++i) ++calls[i];
        },
        o);
    for (auto const& c : calls) ASSERT_EQ(c.load(), 1);
  }
}

TEST_P(Loops, TakeIntegersOfAnyKind) {
  std::atomic<long> sum{0};
  parallel_for(-5, 6, [&](int i) { sum += i; }, options());
  EXPECT_EQ(sum.load(), 0);
  parallel_for(short{-3}, short{3}, [&](short i) { sum += i; }, options());
  EXPECT_EQ(sum.load(), -3);
  constexpr auto last = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> wide{0};
  parallel_for(last - 3, last, [&](std::uint64_t i) { wide += last - i; }, options());
  EXPECT_EQ(wide.load(), 6u);
  std::atomic<int> calls{0};
  parallel_for(
      std::numeric_limits<int>::max() - 2, std::numeric_limits<int>::max(), [&](int) { ++calls; },
      options());
  EXPECT_EQ(calls.load(), 2);
}

TEST_P(Loops, TakeCharactersForNumbers) {
  std::atomic<int> calls{0};
  parallel_for('a', 'z', [&](char) { ++calls; }, options());
  EXPECT_EQ(calls.load(), 25);
}

// Ranges of nearly all there are: pieces come, and the loop can be left.
TEST_P(Loops, BeginOnHugeRanges) {
  if (how.kind() == nigh::schedule_kind::static_chunks) GTEST_SKIP() << "its owner runs it all";
  for (auto const n : {(std::size_t{1} << 32) - 1, (std::size_t{1} << 32) + 1, std::size_t(-1)}) {
    std::atomic<int> calls{0};
    parallel_for(
        std::size_t{0}, n,
        [&](index_range r) {
          EXPECT_LT(r.begin, r.end);
          ++calls;
          return nigh::loop_flow::leave;
        },
        options());
    EXPECT_GE(calls.load(), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, Loops, testing::Range(0, 6), [](auto const& which) {
  auto name = nigh::to_string(schedules()[static_cast<std::size_t>(which.param)]);
  for (char& c : name)
    if (c == ',') c = '_';
  return name;
});

TEST(LoopRefusals, NameWhatIsWrong) {
  EXPECT_THROW(nigh::dynamic_schedule(0), std::invalid_argument);
  EXPECT_THROW(nigh::static_schedule(0), std::invalid_argument);
  EXPECT_THROW(nigh::guided_schedule(0), std::invalid_argument);
  EXPECT_THROW(parallel_for(-1, std::size_t{5}, [](std::size_t) {}), std::invalid_argument);
  EXPECT_FALSE(nigh::parse_schedule("dynamic,0").ok());
}

TEST(LoopRefusals, SayWhatNegativeNumbersHaveToDoWithIt) {
  try {
    parallel_for(-1, 5u, [](unsigned) {});
    FAIL();
  } catch (std::invalid_argument const& e) {
    EXPECT_STREQ(e.what(), "a loop over unsigned indices begins at -1 and ends at 5");
  }
}

std::atomic<int> calls_of_a_function{0};
void a_function(int) { ++calls_of_a_function; }

TEST(LoopBodies, MayBeFunctions) {
  calls_of_a_function = 0;
  parallel_for(0, 10, a_function);
  parallel_for(0, 10, &a_function);
  EXPECT_EQ(calls_of_a_function.load(), 20);
}

TEST(LoopBodies, MayTakeAuto) {
  std::atomic<int> sum{0};
  parallel_for(0, 5, [&](auto i) { sum += static_cast<int>(i); });
  EXPECT_EQ(sum.load(), 10);
}

// Plain data, but with one owner only.
TEST(LoopBodies, NeedNotBeCopyable) {
  struct counter {
    mutable std::atomic<int> calls{0};
    void operator()(int) const { ++calls; }
  } const counted{};
  parallel_for(0, 100, counted);
  EXPECT_EQ(counted.calls.load(), 100);

  struct only_moved {
    std::atomic<int>* calls;
    explicit only_moved(std::atomic<int>* c) : calls(c) {}
    only_moved(only_moved&&) = default;
    only_moved& operator=(only_moved&&) = default;
    void operator()(int) const { ++*calls; }
  };
  std::atomic<int> calls{0};
  parallel_for(0, 100, only_moved(&calls));
  EXPECT_EQ(calls.load(), 100);
}

// A worker that is there begins with its own block, in every loop.
TEST(StaticLoops, KeepBlocksWithTheirWorkers) {
  nigh::runtime runtime(four_workers());
  std::vector<std::atomic<int>> ran_by(4);
  runtime.run([&] {
    for (int round = 0; round < 50; ++round) {
      std::atomic<int> here{0};
      parallel_for(
          0, 4,
          [&](int i) {
            ran_by[static_cast<std::size_t>(i)] = nigh::this_worker::index();
            ++here;
            while (here.load() < 4) {  // everybody comes
            }
          },
          nigh::static_schedule());
      for (int i = 0; i < 4; ++i) ASSERT_EQ(ran_by[static_cast<std::size_t>(i)].load(), i);
    }
  });
}

TEST(DefaultSchedule, IsTheRuntimes) {
  auto o = four_workers();
  o.loops = nigh::dynamic_schedule(10);
  nigh::runtime runtime(o);
  runtime.run([] {
    parallel_for(0, 95, [](index_range r) { EXPECT_EQ(r.size(), r.begin == 90 ? 5u : 10u); });
  });
}

// While the others sleep, a loop begins alone. Long ones call them, whatever the first iterations
// left on the thread's stack, and whichever throws.
TEST(LoneLoops, CallTheOthersWhenItTakesLong) {
  using namespace std::chrono_literals;
  nigh::runtime runtime(four_workers());
  for (auto const& how : {nigh::adaptive_schedule(), nigh::local_schedule()})
    for (int const long_from : {0, 10, 1'000'000}) {  // short until there
      std::this_thread::sleep_for(5ms);
      runtime.run([&] {
        nigh::task_scope scope;
        std::vector<std::atomic<int>> calls(400), spawned(400);
        std::mutex lock;
        std::set<std::thread::id> threads;
        parallel_for(
            0, 400,
            [&](int i) {
              auto const at = static_cast<std::size_t>(i);
              ++calls[at];
              scope.spawn([&spawned, at] { ++spawned[at]; });
              std::lock_guard const guard(lock);
              threads.insert(std::this_thread::get_id());
              if (i >= long_from) std::this_thread::sleep_for(50us);
            },
            how);
        scope.wait();
        for (auto const& c : calls) ASSERT_EQ(c.load(), 1);
        for (auto const& c : spawned) ASSERT_EQ(c.load(), 1);
        if (long_from < 400) {
          EXPECT_GT(threads.size(), 1U);
        }
      });
    }
}

TEST(LoneLoops, EndEarly) {
  using namespace std::chrono_literals;
  nigh::runtime runtime(four_workers());
  for (int const end : {0, 3, 399}) {
    std::this_thread::sleep_for(5ms);
    runtime.run([&] {
      EXPECT_THROW(parallel_for(0, 400,
                                [&](int i) {
                                  if (i == end) throw std::runtime_error("enough");
                                }),
                   std::runtime_error);
      std::atomic<int> last{-1};
      parallel_for(0, 400, [&](int i) {
        last = i;
        return i == end ? nigh::loop_flow::leave : nigh::loop_flow::go_on;
      });
      EXPECT_GE(last.load(), 0);
    });
  }
}

// docs/tasks.md says so of fork().
bool works_in_this_thread_alone(nigh::runtime& rt) {
  auto const me = std::this_thread::get_id();
  std::atomic<int> calls{0};
  auto const call = [&] { calls += std::this_thread::get_id() == me; };
  for (auto const& refused :
       {std::function<void()>([&] { rt.spawn([] {}); }), std::function<void()>([&] { rt.run([] {}); }),
        std::function<void()>([&] { rt.wait(); })}) try {
      refused();
      return false;
    } catch (std::logic_error const&) {
    }
  rt.invoke(call);  // forks in it would make the default runtime anew
  parallel_for(0, 100, [&](int) { call(); }, {.where = &rt});
  nigh::task_scope scope(rt);
  scope.spawn(call);
  scope.wait();
  std::vector<int> v(100'000);
  std::iota(v.rbegin(), v.rend(), 0);
  nigh::parallel_sort(v, [&](int a, int b) { return a < b; }, &rt);
  return calls == 102 && v[99'999] == 99'999;
}

TEST(ParallelFor, InAChildOfForkIsTheCallingThreads) {
  nigh::runtime rt(2);
  rt.invoke([] { parallel_for(0, 100, [](int) {}); });
  auto const child = ::fork();
  if (child == 0) ::_exit(works_in_this_thread_alone(rt) ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
