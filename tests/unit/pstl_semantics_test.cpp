// SPDX-License-Identifier: Apache-2.0
#include <nigh/pstl.hpp>
// The parallel algorithms run on nigh's workers, nest, end early, and end the program when an
// element's function throws.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <execution>
#include <functional>
#include <list>
#include <new>
#include <nigh/runtime.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

namespace {

namespace execution = std::execution;

nigh::runtime_options workers(int count) {
  nigh::runtime_options options;
  options.workers = count;
  return options;
}

TEST(Pstl, PolicyTypesHaveNamesOfTheirOwn) {
  std::string const name = typeid(execution::par).name();
  EXPECT_NE(name.find("__pstl_nigh"), std::string::npos) << name;
}

// Each of two elements waits for the other.
TEST(Pstl, RunsAtTheSameTimeInTheCallersRuntime) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one cpu";
  nigh::runtime runtime(workers(2));
  std::atomic<int> came{0}, by_workers{0};
  runtime.run([&] {
    std::vector<int> two(2);
    std::for_each(execution::par, two.begin(), two.end(), [&](int& met) {
      if (nigh::this_worker::index() >= 0) ++by_workers;
      ++came;
      auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (came < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      met = came;
    });
    EXPECT_EQ(two[0], 2);
    EXPECT_EQ(two[1], 2);
  });
  EXPECT_EQ(by_workers, 2);
}

TEST(Pstl, AnyOfEndsEarly) {
  std::vector<int> const v(1 << 20, 1);
  std::atomic<int> looked_at{0};
  EXPECT_TRUE(std::any_of(execution::par, v.begin(), v.end(), [&](int x) {
    ++looked_at;
    return x == 1;
  }));
  EXPECT_LT(looked_at, 1000);  // of each piece that has begun, one
}

TEST(Pstl, IsSortedEndsEarly) {
  std::vector<int> v(1 << 20, 1);
  v[1] = 0;
  std::atomic<int> looked_at{0};
  EXPECT_FALSE(std::is_sorted(execution::par, v.begin(), v.end(), [&](int x, int y) {
    ++looked_at;
    return x < y;
  }));
  EXPECT_LT(looked_at, 1 << 20);
}

TEST(Pstl, Nests) {
  std::vector<std::vector<int>> rows(50, std::vector<int>(9000));
  std::for_each(execution::par, rows.begin(), rows.end(), [](std::vector<int>& row) {
    std::iota(row.rbegin(), row.rend(), 0);
    std::sort(execution::par, row.begin(), row.end());
  });
  for (auto const& row : rows) EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
  EXPECT_EQ(std::transform_reduce(execution::par, rows.begin(), rows.end(), 0L, std::plus<>(),
                                  [](std::vector<int> const& row) {
                                    return std::reduce(execution::par, row.begin(), row.end(), 0L);
                                  }),
            50L * 9000 * 8999 / 2);
}

TEST(Pstl, ManyThreadsCallItAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> right{0};
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        std::vector<int> v(10000);
        std::iota(v.rbegin(), v.rend(), 0);
        std::sort(execution::par, v.begin(), v.end());
        right += std::is_sorted(execution::par, v.begin(), v.end());
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(right, 4 * 20);
}

TEST(Pstl, ListsAreGoneOverByOneThread) {
  std::list<int> numbers(1000, 2);
  std::for_each(execution::par, numbers.begin(), numbers.end(), [](int& x) { ++x; });
  EXPECT_EQ(std::reduce(execution::par, numbers.begin(), numbers.end()), 3000);
}

TEST(Pstl, NoMemoryForABufferIsThrown) {
  using buffer = nigh::detail::pstl::buffer<double>;
  EXPECT_THROW(buffer(static_cast<std::size_t>(-1) / 4), std::bad_alloc);
}

using PstlDeathTest = testing::Test;
TEST(PstlDeathTest, WhatAnElementThrowsEndsTheProgram) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  std::vector<int> v(20000);
  std::iota(v.rbegin(), v.rend(), 0);
  auto const fails = [](auto const&...) -> bool { throw std::runtime_error("of an element"); };
  // Where two threads end it at once, the second one says no more than that.
  char const* const says = "of an element|terminate called";
  EXPECT_DEATH(std::for_each(execution::par, v.begin(), v.end(), fails), says);
  EXPECT_DEATH(std::sort(execution::par, v.begin(), v.end(), fails), says);
  EXPECT_DEATH(std::stable_sort(execution::par, v.begin(), v.end(), fails), says);
  EXPECT_DEATH(static_cast<void>(std::count_if(execution::par, v.begin(), v.end(), fails)),
               says);
}

}  // namespace
