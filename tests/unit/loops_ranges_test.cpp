// SPDX-License-Identifier: Apache-2.0
// Loops and reductions over ranges, strides and words; empty and reversed ranges.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <nigh/algorithm.hpp>
#include <nigh/box.hpp>
#include <nigh/task_loop.hpp>
#include <numeric>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "unit/loops_elements.hpp"

namespace {

using nigh::parallel_for;
using nigh::parallel_reduce;
using nigh_tests::numbers;
using nigh_tests::on_all;

TEST(RangeLoops, VisitEachElementOnce) {
  on_all([](nigh::loop_options const& o, std::size_t n) {
    std::vector<int> v(n, 1);
    parallel_for(v, [](int& x) { x += 1; }, o);
    parallel_for(std::span(v), [](int& x) { x *= 2; }, o);
    parallel_for(
        v,
        [](std::span<int> part) {
          ASSERT_FALSE(part.empty());
          for (int& x : part) x += 1;
        },
        o);
    EXPECT_EQ(v, std::vector<int>(n, 5)) << n;
  });
}

TEST(RangeLoops, TakeAllRandomAccessRanges) {
  std::atomic<int> sum{0};
  auto const add = [&](int x) { sum += x; };
  std::deque<int> const deque(100, 1);
  parallel_for(deque, add);
  int c_array[] = {1, 2, 3};
  parallel_for(c_array, add);
  parallel_for(std::array<int, 2>{4, 5}, add);
  parallel_for(std::views::iota(0, 5), add);
  parallel_for(std::vector<bool>(7, true), [&](bool b) { sum += b; });
  EXPECT_EQ(sum, 100 + 6 + 9 + 10 + 7);
  nigh::array<int> placed(5000, nigh::placement::blocked());
  parallel_for(placed, [](int& x) { x = 3; });
  parallel_for(placed, [](int& x) { ++x; }, nigh::static_schedule());
  parallel_for(placed, [](int& x) { ++x; }, {.grain = 512});
  EXPECT_EQ(parallel_reduce(placed, nigh::sum), 5 * 5000);
}

TEST(RangeLoops, DoNotCopyElements) {
  std::vector<std::unique_ptr<int>> v(1000);
  parallel_for(v, [](std::unique_ptr<int>& p) { p = std::make_unique<int>(2); });
  std::atomic<int> sum{0};
  parallel_for(std::as_const(v), [&](std::unique_ptr<int> const& p) { sum += *p; });
  EXPECT_EQ(sum, 2000);
}

// A body that takes any type is compiled for the elements' alone.
TEST(RangeLoops, TakeGenericBodies) {
  std::vector<std::string> const words(100, "abc");
  std::atomic<std::size_t> letters{0};
  parallel_for(words, [&](auto const& word) { letters += word.size(); });
  parallel_for(words, [&](auto word) { letters += word.size(); });
  nigh::parallel_for_each(words, [&](auto&& word) { letters += word.size(); });
  EXPECT_EQ(letters, 900u);
}

TEST(RangeLoops, LeaveEarlyAndRethrow) {
  std::vector<int> v(10'000, 1);
  std::atomic<int> calls{0};
  parallel_for(
      v,
      [&](int) {
        ++calls;
        return nigh::loop_flow::leave;
      },
      nigh::dynamic_schedule());
  EXPECT_LT(calls, 10'000);
  EXPECT_THROW(parallel_for(v,
                            [&](int& x) {
                              if (&x == &v[5000]) throw std::runtime_error("no");
                            }),
               std::runtime_error);
}

TEST(RangeLoops, OfATeam) {
  std::vector<int> v(1000, 0);
  nigh::task_loop(1, [&](std::size_t, nigh::team const& team) {
    team.parallel_for(v, [](int& x) { ++x; });
    team.parallel_for(v, [](int& x) { ++x; }, nigh::static_schedule());
    EXPECT_EQ(parallel_reduce(v, nigh::sum, nigh::loop_options{.members = &team}), 2000);
  });
}

// The count and values of a strided loop are those of the serial one.
TEST(Strided, IsTheSerialLoop) {
  for (int first : {-7, 0, 3})
    for (int last : {-9, -7, 0, 1, 3, 20})
      for (int step : {-4, -3, -1, 1, 2, 3, 50}) {
        std::vector<int> expected;
        for (int i = first; step > 0 ? i < last : i > last; i += step) expected.push_back(i);
        auto const range = nigh::strided(first, last, step);
        EXPECT_EQ(std::vector<int>(range.begin(), range.end()), expected)
            << first << ' ' << last << ' ' << step;
        std::vector<std::atomic<int>> seen(40);
        parallel_for(range, [&](int i) { ++seen[static_cast<std::size_t>(i + 10)]; });
        EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), static_cast<int>(expected.size()));
        for (int i : expected) EXPECT_EQ(seen[static_cast<std::size_t>(i + 10)], 1);
      }
  EXPECT_EQ(nigh::strided(0u, 10u, -1).size(), 0u);
  EXPECT_EQ(nigh::strided(10u, 0u, -4)[2], 2u);
}

TEST(Strided, RefusesWhatItCannotCount) {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(nigh::strided(std::size_t{0}, most, 1), std::invalid_argument);
  EXPECT_THROW(nigh::strided(most, std::size_t{0}, -1), std::invalid_argument);
  EXPECT_THROW(nigh::strided(std::numeric_limits<long>::min(), std::numeric_limits<long>::max(), 1),
               std::invalid_argument);
  EXPECT_THROW(nigh::strided(std::size_t{0}, most, 2), std::invalid_argument);
  EXPECT_EQ(nigh::strided(std::size_t{0}, most, 3).size(), most / 3);
  EXPECT_EQ(nigh::strided(std::size_t{0}, most / 2, 1).size(), most / 2);
}

TEST(Strided, RefusesNegativeAmongUnsigned) {
  EXPECT_THROW(nigh::strided(-1, 5u, 1), std::invalid_argument);
  EXPECT_THROW(nigh::strided(5u, -3, -2), std::invalid_argument);  // 5, 3, 1, -1
  EXPECT_EQ(nigh::strided(5u, -1, -2).size(), 3u);
  EXPECT_EQ(nigh::strided(5u, -1, -2)[2], 1u);
  EXPECT_EQ(nigh::strided(4u, -1, -2)[2], 0u);
  EXPECT_EQ(nigh::strided(4u, -2, -3)[1], 1u);
  EXPECT_TRUE(nigh::strided(-1, 5u, -1).empty());
  EXPECT_EQ(nigh::strided(-1L, 5u, 1)[0], -1);
}

TEST(Strided, OfElements) {
  std::vector<int> v(11, 0);
  parallel_for(nigh::strided(v, 3), [](int& x) { x = 1; });
  EXPECT_EQ(v, (std::vector<int>{1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(parallel_reduce(nigh::strided(v, 3), nigh::sum), 4);
  std::vector<int> none;
  EXPECT_TRUE(nigh::strided(none, 3).empty());
  static_assert(std::ranges::random_access_range<decltype(nigh::strided(v, 3))>);
  EXPECT_THROW(nigh::strided(v, 0), std::invalid_argument);
  EXPECT_THROW(nigh::strided(0, 1, 0), std::invalid_argument);
}

TEST(Words, AreTheSerialResults) {
  on_all([](nigh::loop_options const& o, std::size_t n) {
    auto const v = numbers(n, 1000);
    EXPECT_EQ(parallel_reduce(v, nigh::sum, o), std::accumulate(v.begin(), v.end(), 0));
    EXPECT_EQ(parallel_reduce(v.begin(), v.end(), nigh::max, o),
              n == 0 ? std::numeric_limits<int>::min() : *std::max_element(v.begin(), v.end()));
    EXPECT_EQ(parallel_reduce(v, nigh::min, o),
              n == 0 ? std::numeric_limits<int>::max() : *std::min_element(v.begin(), v.end()));
    EXPECT_EQ(parallel_reduce(
                  std::size_t{0}, n, nigh::sum, [&](std::size_t i) { return 2L * v[i]; }, o),
              2 * std::accumulate(v.begin(), v.end(), 0L));
    EXPECT_EQ(parallel_reduce(
                  v, nigh::max, [](int x) { return -x; }, o),
              n == 0 ? std::numeric_limits<int>::min() : -*std::min_element(v.begin(), v.end()));
  });
}

TEST(Words, HaveIdentitiesAndTypes) {
  std::vector<double> const none;
  EXPECT_EQ(parallel_reduce(none, nigh::sum), 0.0);
  EXPECT_EQ(parallel_reduce(none, nigh::product), 1.0);
  EXPECT_EQ(parallel_reduce(none, nigh::min), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parallel_reduce(none, nigh::max), -std::numeric_limits<double>::infinity());
  std::vector<unsigned char> const bytes(1000, 200);
  static_assert(std::is_same_v<decltype(parallel_reduce(bytes, nigh::sum)), int>);
  static_assert(std::is_same_v<decltype(parallel_reduce(bytes, nigh::max)), unsigned char>);
  EXPECT_EQ(parallel_reduce(bytes, nigh::sum), 200'000);
  EXPECT_EQ(parallel_reduce(bytes, nigh::max), 200);
  EXPECT_EQ(parallel_reduce(1, 11, nigh::product, [](int i) { return long{i}; }), 3'628'800);
  std::vector<std::string> const words{"pear", "apple", "quince"};
  EXPECT_EQ(parallel_reduce(words, std::string("plum"), nigh::min), "apple");
  EXPECT_EQ(parallel_reduce(std::vector<bool>(77, true), nigh::sum), 77);
  EXPECT_EQ(nigh::min(2, 1), 1);
  EXPECT_EQ(nigh::max(2, 1), 2);
}

TEST(Words, AreTheSameToTheLastBitWhenAsked) {
  auto const ints = numbers(100'003, 1 << 30);
  std::vector<double> v(ints.begin(), ints.end());
  for (auto& x : v) x = 1 / (x + 1);
  std::vector<double> sums;
  for (int workers : {1, 2, 3, 8}) {
    auto const runtime = nigh_tests::runtime_of(workers);
    for (char const* name : {"static", "dynamic,3", "adaptive"}) {
      nigh::reduce_options o;
      o.where = runtime.get();
      o.how = nigh::parse_schedule(name).value();
      o.order = nigh::reduction::deterministic;
      sums.push_back(parallel_reduce(v, nigh::sum, o));
      sums.push_back(parallel_reduce(
          std::size_t{0}, v.size(), 0.0, [&](std::size_t i) { return v[i]; }, std::plus<>(), o));
    }
  }
  for (double s : sums) EXPECT_EQ(s, sums[0]);
}

// init counts once, though it is no identity; the order is kept when asked.
TEST(ReduceOfARange, IsStdReduce) {
  on_all([](nigh::loop_options const& o, std::size_t n) {
    auto const v = numbers(n, 1000);
    EXPECT_EQ(parallel_reduce(v, 5, std::plus<>(), o), std::accumulate(v.begin(), v.end(), 5));
    EXPECT_EQ(parallel_reduce(v.begin(), v.end(), 5L, std::plus<>(), o),
              std::accumulate(v.begin(), v.end(), 5L));
    EXPECT_EQ(nigh::parallel_transform_reduce(v, v, 7L),
              std::inner_product(v.begin(), v.end(), v.begin(), 7L));
    EXPECT_EQ(nigh::parallel_transform_reduce(
                  v.begin(), v.end(), v.begin(), 1L, std::plus<>(),
                  [](int a, int b) { return a - 2L * b; }, o),
              1 - std::accumulate(v.begin(), v.end(), 0L));
    EXPECT_EQ(nigh::parallel_transform_reduce(
                  v, 3L, std::plus<>(), [](int x) { return 2L * x; }, o),
              3 + 2 * std::accumulate(v.begin(), v.end(), 0L));
    if (n > 5000) return;
    nigh::reduce_options in_order;
    in_order.how = o.how;
    in_order.where = o.where;
    in_order.grain = o.grain;
    in_order.order = nigh::reduction::deterministic;
    auto const text = nigh::parallel_transform_reduce(
        v.begin(), v.end(), std::string("<"),
        [](std::string a, std::string const& b) { return a += b; },
        [](int x) { return std::to_string(x) + ' '; }, in_order);
    std::string expected("<");
    for (int x : v) expected += std::to_string(x) + ' ';
    EXPECT_EQ(text, expected);
  });
  EXPECT_EQ(nigh::parallel_transform_reduce(0, 10, 0, std::plus<>(), [](int i) { return i; }), 45);
  std::vector<int> const three(3), four(4);
  EXPECT_THROW(nigh::parallel_transform_reduce(three, four, 0), std::invalid_argument);
}

// A number that can only be moved.
struct boxed {
  std::unique_ptr<long> value;
};
boxed operator+(boxed a, boxed b) {
  if (!a.value) return b;
  if (b.value) *a.value += *b.value;
  return a;
}

TEST(ReduceOfARange, MovesWhatCannotBeCopied) {
  auto const one = [](auto const&) { return boxed{std::make_unique<long>(1)}; };
  auto const add = [](boxed a, boxed b) { return std::move(a) + std::move(b); };
  std::vector<int> const v(10'000);
  for (auto const order : {nigh::reduction::as_it_comes, nigh::reduction::deterministic}) {
    nigh::reduce_options o;
    o.order = order;
    EXPECT_EQ(*nigh::parallel_transform_reduce(v, one(0), add, one, o).value, 10'001);
    EXPECT_EQ(*parallel_reduce(0, 10'000, one(0), one, add, o).value, 10'001);
    EXPECT_EQ(*parallel_reduce(0, 10'000, nigh::sum, one, o).value, 10'000);
    std::vector<boxed> boxes(1000);
    for (auto& b : boxes) b = one(0);
    EXPECT_EQ(*parallel_reduce(std::make_move_iterator(boxes.begin()),
                               std::make_move_iterator(boxes.end()), one(0), add, o)
                   .value,
              1001);
  }
}

TEST(ReduceOfARange, Rethrows) {
  std::vector<int> const v(1000, 1);
  auto const throws = [&](int const& x) {
    if (&x == &v[500]) throw std::runtime_error("no");
    return x;
  };
  EXPECT_THROW(parallel_reduce(v, nigh::sum, throws), std::runtime_error);
  EXPECT_THROW(nigh::parallel_transform_reduce(v, 0, std::plus<>(), throws), std::runtime_error);
}

// Integers keep their numbers, by which local_schedule(array) knows where their data lies.
TEST(RangeLoops, OfIntegersHaveTheirNumbers) {
  EXPECT_EQ(nigh::detail::sequence_of(5, 9).extent().first, 5u);
  EXPECT_EQ(nigh::detail::sequence_of(5, 9).extent().count, 4u);
  std::vector<int> v(9);
  EXPECT_EQ(nigh::detail::sequence_of(v.begin() + 5, v.end()).extent().first, 0u);
}

// As in OpenMP and TBB.
TEST(EmptyAndReversed, DoNothing) {
  auto const never = [](auto...) { FAIL(); };
  parallel_for(3, 3, [&](int) { never(); });
  parallel_for(3, -1, [&](int) { never(); });
  parallel_for(5u, 2u, [&](unsigned) { never(); });
  parallel_for(0u, -1, [&](unsigned) { never(); });
  parallel_for(std::numeric_limits<long>::max(), std::numeric_limits<long>::min(),
               [&](nigh::index_range) { never(); });
  parallel_for(nigh::box<2>{{0, 4}, {1, 3}}, [&](std::size_t, std::size_t) { never(); });
  parallel_for(nigh::box<3>{{0, 0, 9}, {5, 5, 3}}, [&](nigh::box<3> const&) { never(); });
  EXPECT_EQ((nigh::box<2>{{0, 4}, {1, 3}}).size(1), 0u);
  std::vector<int> v(10, 1);
  EXPECT_EQ(parallel_reduce(9, 2, 7, [](int i) { return i; }, std::plus<>()), 7);
  EXPECT_EQ(parallel_reduce(9, 2, nigh::sum, [](int i) { return i; }), 0);
  EXPECT_EQ(parallel_reduce(v.end(), v.begin(), 7, std::plus<>()), 7);
  EXPECT_EQ(nigh::parallel_transform_reduce(v.end(), v.begin(), v.begin(), 7), 7);
  nigh::reduce_options in_order;
  in_order.order = nigh::reduction::deterministic;
  EXPECT_EQ(parallel_reduce(9, 2, 7, [](int i) { return i; }, std::plus<>(), in_order), 7);
  nigh::parallel_for_each(v.end(), v.begin(), never);
  nigh::parallel_fill(v.end(), v.begin(), 3);
  nigh::parallel_generate(v.end(), v.begin(), [] { return 3; });
  EXPECT_EQ(nigh::parallel_transform(v.end(), v.begin(), v.begin(), [](int) { return 5; }),
            v.begin());
  EXPECT_EQ(nigh::parallel_copy_if(9, 2, v.begin(), [](int) { return true; }), v.begin());
  EXPECT_EQ(nigh::parallel_unique(v.end(), v.begin()), v.end());
  EXPECT_EQ(nigh::parallel_find(9, 2, 5), 9);
  EXPECT_EQ(nigh::parallel_min_element(v.end(), v.begin()), v.end());
  EXPECT_EQ(nigh::parallel_count(v.end(), v.begin(), 1), 0u);
  EXPECT_FALSE(nigh::parallel_any_of(9, 2, [](int) { return true; }));
  EXPECT_TRUE(nigh::parallel_all_of(9, 2, [](int) { return false; }));
  EXPECT_EQ(nigh::parallel_histogram(9, 2, 3), std::vector<std::size_t>(3));
  EXPECT_EQ(v, std::vector<int>(10, 1));
  auto const less = [](int a, int b) { return a < b; };
  std::vector<int> order{3, 1, 2, 5, 4}, out{7, 8, 9, 10, 11};
  auto const kept = order, kept_out = out;
  nigh::parallel_sort(order.end(), order.begin());
  nigh::parallel_sort(order.end(), order.begin(), less);
  nigh::parallel_stable_sort(order.end(), order.begin(), less);
  nigh::parallel_sort_by_key(order.end(), order.begin(), out.begin());
  nigh::parallel_stable_sort_by_key(order.end(), order.begin(), out.begin());
  EXPECT_EQ(nigh::parallel_inclusive_scan(order.end(), order.begin(), out.begin(), 7), 7);
  EXPECT_EQ(nigh::parallel_exclusive_scan(order.end(), order.begin(), out.begin(), 7), 7);
  auto const small = [](int x) { return x < 3; };
  EXPECT_EQ(nigh::parallel_partition(order.end(), order.begin(), small), order.end());
  EXPECT_EQ(nigh::parallel_stable_partition(order.end(), order.begin(), small), order.end());
  EXPECT_EQ(nigh::parallel_merge(order.end(), order.begin(), order.end(), order.begin(), out.begin()), out.begin());
  EXPECT_EQ(order, kept);
  EXPECT_EQ(out, kept_out);
  std::vector<int> const sorted{1, 2};
  EXPECT_EQ(nigh::parallel_merge(order.end(), order.begin(), sorted.begin(), sorted.end(), out.begin()),
            out.begin() + 2);
  EXPECT_EQ(out, (std::vector<int>{1, 2, 9, 10, 11}));
  std::vector<int> nothing;
  nigh::parallel_inclusive_scan(std::span(nothing), std::span(nothing), 0, std::plus<>());
  nigh::parallel_sort(nothing.begin(), nothing.end());
  nigh::task_loop(0, [&](std::size_t, nigh::team const&) { never(); });
}

}  // namespace
