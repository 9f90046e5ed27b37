// SPDX-License-Identifier: Apache-2.0
// fork_join of one function, and of a list.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <nigh/fork_join.hpp>
#include <span>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using nigh::fork_join;

TEST(ForkList, OfOneFunction) {
  auto const [value] = fork_join([] { return 3; });
  EXPECT_EQ(value, 3);
  static_assert(std::is_void_v<decltype(fork_join([] {}))>);
  auto const pair = [] { return std::pair(1, 2); };
  static_assert(std::is_same_v<decltype(fork_join(pair)), std::tuple<std::pair<int, int>>>);
  EXPECT_THROW(fork_join([] { throw std::runtime_error("own"); }), std::runtime_error);
}

TEST(ForkList, OfAListAsLongAsTheProgramSays) {
  for (std::size_t const n : {0u, 1u, 2u, 3u, 7u, 1000u}) {
    std::vector<std::function<std::size_t()>> functions;
    for (std::size_t i = 0; i < n; ++i) functions.emplace_back([i] { return i * i; });
    auto const results = fork_join(functions);
    static_assert(std::is_same_v<decltype(results), std::vector<std::size_t> const>);
    ASSERT_EQ(results.size(), n);
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(results[i], i * i);
  }
  std::atomic<int> calls{0};
  auto count = [&] { ++calls; };
  std::vector<decltype(count)> same(20, count);
  static_assert(std::is_void_v<decltype(fork_join(same))>);
  fork_join(same);
  fork_join(std::span(same).first(5));
  std::array<std::function<void()>, 2> const two{count, count};
  fork_join(two);
  EXPECT_EQ(calls, 27);
}

TEST(ForkList, AListsResultsMayBeOfAnyKind) {
  std::vector<std::function<std::unique_ptr<int>()>> moved(
      3, [] { return std::make_unique<int>(4); });
  EXPECT_EQ(*fork_join(moved)[2], 4);
  std::vector<std::function<bool()>> bits(100, [] { return true; });
  auto const all = fork_join(bits);
  EXPECT_EQ(std::count(all.begin(), all.end(), true), 100);
}

TEST(ForkList, AListIsCalledToItsEndWhenOneThrows) {
  std::atomic<int> calls{0};
  std::vector<std::function<int()>> functions;
  for (int i = 0; i < 50; ++i)
    functions.emplace_back([&calls, i] {
      ++calls;
      return i % 20 == 7 ? throw i : i;
    });
  try {
    fork_join(functions);
    ADD_FAILURE() << "nothing was thrown";
  } catch (int first) {
    EXPECT_EQ(first, 7);
  }
  EXPECT_EQ(calls, 50);
}

}  // namespace
