// SPDX-License-Identifier: Apache-2.0
// Algorithms over elements, each beside the serial one of the standard library.
#include "unit/loops_elements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <nigh/algorithm.hpp>
#include <nigh/task_scope.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using nigh_tests::numbers;
using nigh_tests::on_all;

bool is_even(int x) { return x % 2 == 0; }

TEST(Transform, IsTheSerialOne) {
  on_all([](nigh::loop_options const& o, std::size_t n) {
    auto const a = numbers(n, 1000, 1), b = numbers(n, 1000, 2);
    std::vector<long> expected(n), out(n);
    std::transform(a.begin(), a.end(), expected.begin(), [](int x) { return 3L * x; });
    EXPECT_EQ(nigh::parallel_transform(a, out, [](int x) { return 3L * x; }, o), out.end());
    EXPECT_EQ(out, expected);
    auto const minus = [](int x, int y) { return long{x} - y; };
    std::transform(a.begin(), a.end(), b.begin(), expected.begin(), minus);
    EXPECT_EQ(nigh::parallel_transform(a.begin(), a.end(), b.begin(), out.begin(), minus, o),
              out.end());
    EXPECT_EQ(out, expected);
    nigh::parallel_transform(out, out, [](long x) { return -x; }, o);  // in place
    nigh::parallel_transform(a, b, out.begin(), minus, o);
    EXPECT_EQ(out, expected);
    nigh::parallel_transform(
        std::size_t{0}, n, out, [](std::size_t i) { return static_cast<long>(i); }, o);
    std::iota(expected.begin(), expected.end(), 0L);
    EXPECT_EQ(out, expected);
  });
}

TEST(Transform, RefusesOtherLengths) {
  std::vector<int> three(3), four(4);
  auto const message_of = [](auto const& f) -> std::string {
    try {
      f();
    } catch (std::invalid_argument const& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message_of([&] { nigh::parallel_transform(three, four, std::negate<>()); }),
            "a transform of 3 elements into 4");
  EXPECT_EQ(message_of([&] { nigh::parallel_transform(three, four, three, std::plus<>()); }),
            "a transform of 3 elements and 4");
  EXPECT_EQ(message_of([&] { nigh::parallel_copy_if(four, three, [](int) { return true; }); }),
            "a copy of 4 elements into 3");
}

TEST(ForEach, GenerateAndFill) {
  on_all([](nigh::loop_options const& o, std::size_t n) {
    std::vector<int> v(n, 9), expected(n);
    nigh::parallel_generate(v, [](std::size_t i) { return static_cast<int>(i); }, o);
    nigh::parallel_for_each(v, [](int& x) { return ++x; }, o);  // its result is ignored
    nigh::parallel_for_each(v.begin(), v.end(), [](int& x) { --x; }, o);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(v, expected);
    nigh::parallel_generate(v.begin(), v.end(), [] { return 4; }, o);
    EXPECT_EQ(v, std::vector<int>(n, 4));
    nigh::parallel_fill(v, 5, o);
    EXPECT_EQ(v, std::vector<int>(n, 5));
    std::atomic<std::size_t> sum{0};
    nigh::parallel_for_each(std::size_t{0}, n, [&](std::size_t i) { sum += i; }, o);
    EXPECT_EQ(sum, n == 0 ? 0 : n * (n - 1) / 2);
  });
  std::vector<std::string> words(5000);
  nigh::parallel_fill(words.begin() + 1, words.end(), std::string("a long word that needs memory"));
  EXPECT_EQ(words.front(), "");
  EXPECT_EQ(words.back(), words[1]);
}

TEST(Find, FindsTheFirst) {
  on_all([](nigh::loop_options const& o, std::size_t n) {
    auto v = numbers(n, 1000);
    for (int wanted : {0, 1, 500, 999, -1}) {
      EXPECT_EQ(nigh::parallel_find(v, wanted, o), std::find(v.begin(), v.end(), wanted)) << n;
      EXPECT_EQ(nigh::parallel_find_if(
                    v.begin(), v.end(), [=](int x) { return x == wanted; }, o),
                std::find(v.begin(), v.end(), wanted));
    }
    std::vector<double> places(n, 0.0);
    for (std::size_t at = n / 2; at < n; at += n / 3 + 1) places[at] = 1;
    EXPECT_EQ(nigh::parallel_find(places, 1, o), std::find(places.begin(), places.end(), 1));
    auto const rest =
        nigh::parallel_find_if(std::size_t{0}, n, [&](std::size_t i) { return places[i] > 0; }, o);
    EXPECT_EQ(rest, n / 2);
  });
}

// A match everywhere from some place on: threads that come to later ones first are not believed.
TEST(Find, IsNotMisledByLaterMatches) {
  auto const runtime = nigh_tests::runtime_of(8);
  nigh::loop_options o;
  o.where = runtime.get();
  for (int round = 0; round < 200; ++round)
    for (int first : {0, 1, 77, 4096, 60'000, 99'999}) {
      EXPECT_EQ(nigh::parallel_find_if(0, 100'000, [=](int i) { return i >= first; }, o), first);
      o.how = round % 2 == 0 ? nigh::static_schedule() : nigh::dynamic_schedule(100);
      EXPECT_EQ(nigh::parallel_find_if(0, 100'000, [=](int i) { return i >= first; }, o), first);
      o.how.reset();
    }
}

TEST(Find, EndsEarly) {
  auto const runtime = nigh_tests::runtime_of(4);
  nigh::loop_options o;
  o.where = runtime.get();
  constexpr long n = 100'000'000;
  std::atomic<long> calls{0};
  auto const is_here = [&](long i) {
    calls.fetch_add(1, std::memory_order_relaxed);
    return i == 20'000;
  };
  EXPECT_EQ(nigh::parallel_find_if(0L, n, is_here, o), 20'000);
  EXPECT_LT(calls, n / 100);
  calls = 0;
  EXPECT_TRUE(nigh::parallel_any_of(0L, n, is_here, o));
  EXPECT_FALSE(nigh::parallel_all_of(0L, n, [&](long i) { return i < 100; }, o));
  EXPECT_FALSE(nigh::parallel_none_of(0L, n, is_here, o));
  EXPECT_LT(calls, n / 100);
}

// They begin pieces in order, so none that lies behind the match need be begun: 2^32 of them here.
TEST(Find, ByANamedScheduleEndsEarly) {
  auto const is_here = [](std::size_t i) { return i >= 12'345; };
  for (auto const& how : {nigh::dynamic_schedule(3), nigh::guided_schedule(3)})
    EXPECT_EQ(nigh::parallel_find_if(std::size_t{0}, std::size_t{1} << 62, is_here, how), 12'345u);
}

TEST(Find, GoesOverItsBlocksInOrderAndWithoutGaps) {
  for (std::size_t n : {1ul, 2ul, 3ul, 10ul, 100ul, 1000ul, 65'536ul, 1'000'003ul, 1ul << 40})
    for (std::size_t workers : {1ul, 2ul, 7ul, 64ul, 300ul}) {
      nigh::detail::search_blocks const blocks(n, workers);
      std::size_t at = 0;
      auto const most = std::max<std::size_t>(256, n / (16 * workers) + n / 1000);
      for (std::size_t b = 0; b < blocks.blocks(); ++b) {
        auto const r = blocks.block(b);
        ASSERT_EQ(r.begin, at) << n << ' ' << workers << ' ' << b;
        ASSERT_GT(r.end, r.begin) << n << ' ' << workers << ' ' << b;
        ASSERT_LE(r.size(), most) << n << ' ' << workers << ' ' << b;
        at = r.end;
      }
      ASSERT_EQ(at, n);
    }
}

TEST(Quantifiers, AreTheSerialOnes) {
  on_all([](nigh::loop_options const& o, std::size_t n) {
    auto v = numbers(n, 10);
    for (int limit : {-1, 0, 5, 10}) {
      auto const below = [=](int x) { return x < limit; };
      EXPECT_EQ(nigh::parallel_any_of(v, below, o), std::any_of(v.begin(), v.end(), below));
      EXPECT_EQ(nigh::parallel_all_of(v.begin(), v.end(), below, o),
                std::all_of(v.begin(), v.end(), below));
      EXPECT_EQ(nigh::parallel_none_of(v, below, o), std::none_of(v.begin(), v.end(), below));
    }
  });
}

template <class T>
void extremes_are_the_serial_ones(int distinct) {
  on_all([distinct](nigh::loop_options const& o, std::size_t n) {
    auto const ints = numbers(n, distinct);
    std::vector<T> const v(ints.begin(), ints.end());
    auto const down = [](T a, T b) { return b < a; };
    EXPECT_EQ(nigh::parallel_min_element(v, std::less<>(), o),
              std::min_element(v.begin(), v.end()));
    EXPECT_EQ(nigh::parallel_max_element(v, std::less<T>(), o),
              std::max_element(v.begin(), v.end()));
    EXPECT_EQ(nigh::parallel_min_element(v.begin(), v.end(), down, o),
              std::min_element(v.begin(), v.end(), down));
    EXPECT_EQ(nigh::parallel_max_element(v.begin(), v.end(), down, o),
              std::max_element(v.begin(), v.end(), down));
    EXPECT_EQ(nigh::parallel_minmax_element(v, std::less<>(), o),
              std::minmax_element(v.begin(), v.end()));
    EXPECT_EQ(nigh::parallel_minmax_element(v.begin(), v.end(), down, o),
              std::minmax_element(v.begin(), v.end(), down));
  });
}

// Few distinct values: which of the equal ones matters.
TEST(MinMax, AreTheSerialOnes) {
  extremes_are_the_serial_ones<int>(3);
  extremes_are_the_serial_ones<double>(1'000'000);
  extremes_are_the_serial_ones<unsigned char>(7);
}

// Wherever it stands: in front of a lane, at the beginning, alone.
TEST(MinMax, LeaveOutANaN) {
  constexpr auto none = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t const n : {1UL, 7UL, 40UL, 1000UL, 30'000UL})
    for (std::size_t const at : {0UL, 5UL, 6UL, 21UL, 999UL}) {
      if (at >= n) continue;
      std::vector<double> v(n, 1.0);
      if (at + 16 < n) v[at + 16] = 3, v[n - 1] = -2;
      v[at] = none;
      double most = -INFINITY, least = INFINITY;
      for (double const x : v) most = most < x ? x : most, least = x < least ? x : least;
      EXPECT_EQ(nigh::parallel_reduce(v, nigh::max), most) << n << ' ' << at;
      EXPECT_EQ(nigh::parallel_reduce(v, nigh::min), least) << n << ' ' << at;
      EXPECT_EQ(nigh::parallel_reduce(std::size_t{0}, n, nigh::max, [&](auto i) { return v[i]; }),
                most);
    }
}

TEST(MinMax, OfIndicesAndOfWhatCannotBeCopied) {
  std::vector<std::unique_ptr<int>> v;
  for (int i = 0; i < 20'000; ++i) v.push_back(std::make_unique<int>((i * 7919 + 13) % 20'011));
  auto const less = [](auto const& a, auto const& b) { return *a < *b; };
  EXPECT_EQ(nigh::parallel_min_element(v, less), std::min_element(v.begin(), v.end(), less));
  auto const place = nigh::parallel_max_element(
      std::size_t{0}, v.size(), [&](std::size_t a, std::size_t b) { return *v[a] < *v[b]; });
  EXPECT_EQ(v.begin() + static_cast<std::ptrdiff_t>(place),
            std::max_element(v.begin(), v.end(), less));
}

TEST(Count, IsTheSerialOne) {
  on_all([](nigh::loop_options const& o, std::size_t n) {
    auto const v = numbers(n, 10);
    auto const expected = static_cast<std::size_t>(std::count_if(v.begin(), v.end(), is_even));
    EXPECT_EQ(nigh::parallel_count_if(v, is_even, o), expected);
    EXPECT_EQ(nigh::parallel_count_if(v.begin(), v.end(), is_even, o), expected);
    EXPECT_EQ(nigh::parallel_count(v, 3, o),
              static_cast<std::size_t>(std::count(v.begin(), v.end(), 3)));
    std::deque<int> const deque(v.begin(), v.end());
    EXPECT_EQ(nigh::parallel_count(deque.begin(), deque.end(), 3, o),
              nigh::parallel_count(v, 3, o));
  });
}

TEST(Histogram, CountsEachElementOnce) {
  on_all([](nigh::loop_options const& o, std::size_t n) {
    for (int bins : {1, 10, 5000, 1'000'000}) {             // in sets, for each thread, shared
      if (bins > 5000 && n < 30'000 && n != 65) continue;  // large results only now and then
      auto const v = numbers(n, bins);
      std::vector<std::size_t> expected(static_cast<std::size_t>(bins));
      for (int x : v) ++expected[static_cast<std::size_t>(x)];
      EXPECT_EQ(nigh::parallel_histogram(v, bins, o), expected);
      EXPECT_EQ(
          nigh::parallel_histogram(v.begin(), v.end(), bins, [](int x) { return x; }, o), expected);
    }
  });
}

TEST(Histogram, RefusesElementsWithoutABin) {
  std::vector<int> v(1000, 3);
  v[777] = 10;
  for (int wrong : {10, -1}) {
    v[777] = wrong;
    try {
      (void)nigh::parallel_histogram(v, 10);
      FAIL();
    } catch (std::out_of_range const& e) {
      EXPECT_EQ(e.what(), "a histogram of 10 bins: element 777 is in bin " + std::to_string(wrong));
    }
  }
  EXPECT_THROW((void)nigh::parallel_histogram(v, -1), std::invalid_argument);
}

template <class T>
void selections_are_the_serial_ones() {
  on_all([](nigh::loop_options const& o, std::size_t n) {
    if (std::is_same_v<T, std::string> && n > 5000) return;
    for (int distinct : {1, 2, 100}) {
      auto const ints = numbers(n, distinct);
      std::vector<T> v;
      for (int x : ints)
        if constexpr (std::is_same_v<T, std::string>)
          v.push_back(std::to_string(x));
        else
          v.push_back(static_cast<T>(x));
      auto const wanted = [](T const& x) { return !(x == T()) && !(x == T{'1'}); };
      std::vector<T> expected, out(n + 1);
      std::copy_if(v.begin(), v.end(), std::back_inserter(expected), wanted);
      auto end = nigh::parallel_copy_if(v, out, wanted, o);
      EXPECT_EQ(std::vector<T>(out.begin(), end), expected);
      EXPECT_EQ(*end, T());  // nothing is written behind the end
      end = nigh::parallel_copy_if(v.begin(), v.end(), out.begin(), wanted, o);
      EXPECT_EQ(std::vector<T>(out.begin(), end), expected);
      EXPECT_EQ(nigh::parallel_filter(v, wanted, o), expected);
      expected.clear();
      std::unique_copy(v.begin(), v.end(), std::back_inserter(expected));
      end = nigh::parallel_unique_copy(v, out, std::equal_to<>(), o);
      EXPECT_EQ(std::vector<T>(out.begin(), end), expected);
      auto copy = v;
      copy.erase(nigh::parallel_unique(copy, std::equal_to<>(), o), copy.end());
      EXPECT_EQ(copy, expected);
      copy = v;
      copy.erase(nigh::parallel_remove_if(copy.begin(), copy.end(), wanted, o), copy.end());
      v.erase(std::remove_if(v.begin(), v.end(), wanted), v.end());
      EXPECT_EQ(copy, v);
    }
  });
}

TEST(Selections, AreTheSerialOnes) {
  selections_are_the_serial_ones<int>();
  selections_are_the_serial_ones<double>();
}
TEST(Selections, AreTheSerialOnesOfStrings) { selections_are_the_serial_ones<std::string>(); }

TEST(Selections, AskForEachElementOnce) {
  std::vector<std::atomic<int>> asked(10'000);
  auto const even = nigh::parallel_filter(0, 10'000, [&](int i) {
    ++asked[static_cast<std::size_t>(i)];
    return is_even(i);
  });
  EXPECT_EQ(even.size(), 5000u);
  EXPECT_EQ(even.back(), 9998);
  for (auto const& a : asked) ASSERT_EQ(a, 1);
}

TEST(Selections, MoveWhatCannotBeCopied) {
  std::vector<std::unique_ptr<int>> v;
  for (int i = 0; i < 30'000; ++i) v.push_back(std::make_unique<int>(i / 3));
  auto const same = [](auto const& a, auto const& b) { return *a == *b; };
  v.erase(nigh::parallel_unique(v, same), v.end());
  ASSERT_EQ(v.size(), 10'000u);
  v.erase(nigh::parallel_remove_if(v, [](auto const& p) { return *p % 2 == 1; }), v.end());
  ASSERT_EQ(v.size(), 5000u);
  for (std::size_t i = 0; i < v.size(); ++i) ASSERT_EQ(*v[i], static_cast<int>(2 * i));
  std::vector<std::unique_ptr<int>> out(v.size());
  auto const end =
      nigh::parallel_copy_if(std::make_move_iterator(v.begin()), std::make_move_iterator(v.end()),
                             out.begin(), [](auto const& p) { return *p < 100; });
  ASSERT_EQ(end - out.begin(), 50);
  EXPECT_EQ(*out[49], 98);
  EXPECT_EQ(v[0], nullptr);
  EXPECT_NE(v[50], nullptr);
}

// A move that may throw is done by one thread, to the same end.
struct reluctant {
  int value = 0;
  reluctant() = default;
  explicit reluctant(int v) : value(v) {}
  reluctant(reluctant const& other) noexcept(false) : value(other.value) {}
  reluctant& operator=(reluctant const& other) noexcept(false) {
    value = other.value;
    return *this;
  }
  bool operator==(reluctant const&) const = default;
};

TEST(Selections, InPlaceOfWhatMayThrowWhenMoved) {
  std::vector<reluctant> v;
  for (int x : numbers(10'000, 3)) v.emplace_back(x);
  auto expected = v;
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  v.erase(nigh::parallel_unique(v), v.end());
  EXPECT_EQ(v, expected);
}

// An exception of a function comes before any element is moved.
TEST(Selections, LeaveElementsAloneWhenAFunctionThrows) {
  auto const before = numbers(10'000, 5);
  auto v = before;
  std::vector<int> out(v.size(), -1);
  auto const throws = [&](int const& x) {
    if (&x == &v[7777]) throw std::runtime_error("no");
    return false;
  };
  EXPECT_THROW((void)nigh::parallel_remove_if(v, throws), std::runtime_error);
  EXPECT_THROW((void)nigh::parallel_copy_if(v, out, throws), std::runtime_error);
  EXPECT_THROW((void)nigh::parallel_unique(v, [&](int const& x, int const&) { return throws(x); }),
               std::runtime_error);
  EXPECT_EQ(v, before);
  EXPECT_EQ(out, std::vector<int>(v.size(), -1));
}

TEST(Algorithms, RethrowWhatAFunctionThrows) {
  std::vector<int> v(5000, 1), out(5000);
  auto const throws = [&](int const& x) -> bool {
    if (&x == &v[2500]) throw std::runtime_error("no");
    return false;
  };
  EXPECT_THROW(nigh::parallel_for_each(v, throws), std::runtime_error);
  EXPECT_THROW(nigh::parallel_transform(v, out, throws), std::runtime_error);
  EXPECT_THROW((void)nigh::parallel_find_if(v, throws), std::runtime_error);
  EXPECT_THROW((void)nigh::parallel_any_of(v, throws), std::runtime_error);
  EXPECT_THROW((void)nigh::parallel_count_if(v, throws), std::runtime_error);
  EXPECT_THROW(
      (void)nigh::parallel_histogram(v, 2, [&](int const& x) { return throws(x) ? 1 : 0; }),
      std::runtime_error);
  EXPECT_THROW((void)nigh::parallel_min_element(
                   v, [&](int const& a, int const& b) { return throws(a) || throws(b); }),
               std::runtime_error);
  EXPECT_THROW(nigh::parallel_generate(v,
                                       [](std::size_t i) {
                                         if (i == 77) throw std::runtime_error("no");
                                         return 0;
                                       }),
               std::runtime_error);
}

// A scope's token that is set: in place, elements stay as they are.
TEST(Algorithms, Stop) {
  nigh::task_scope scope;
  scope.request_stop();
  nigh::loop_options o;
  o.stop = scope.token();
  auto v = numbers(10'000, 2);
  auto const before = v;
  EXPECT_EQ(nigh::parallel_unique(v, std::equal_to<>(), o), v.end());
  EXPECT_EQ(v, before);
  nigh::parallel_fill(v, 7, o);
  EXPECT_EQ(v, before);
  EXPECT_EQ(nigh::parallel_find(v, 1, o), v.end());
  EXPECT_EQ(nigh::parallel_count(v, 1, o), 0u);
  EXPECT_TRUE(nigh::parallel_filter(v, [](int) { return true; }, o).empty());
  EXPECT_EQ(nigh::parallel_min_element(v, std::less<>(), o), v.end());
  scope.wait();
}

// Near its data unless told otherwise; the same results.
TEST(Algorithms, OverPlacedArrays) {
  nigh::array<int> a(100'000, nigh::placement::blocked());
  nigh::parallel_generate(a, [](std::size_t i) { return static_cast<int>(i % 1000); });
  EXPECT_EQ(nigh::parallel_find(a, 999), a.begin() + 999);
  EXPECT_EQ(nigh::parallel_max_element(a), a.begin() + 999);
  EXPECT_EQ(nigh::parallel_count_if(a, is_even), 50'000u);
  EXPECT_EQ(nigh::parallel_filter(a, [](int x) { return x == 5; }).size(), 100u);
  EXPECT_EQ(nigh::parallel_histogram(a, 1000)[17], 100u);
}

// Compiled with -Wsign-compare as an error.
TEST(Finds, CompareNumbersOfOtherTypes) {
  std::vector<std::size_t> v(1000, 1);
  v[700] = 3;
  v[800] = static_cast<std::size_t>(-1);
  EXPECT_EQ(nigh::parallel_find(v, 3) - v.begin(), 700);
  EXPECT_EQ(nigh::parallel_count(v, 3), 1u);
  EXPECT_EQ(nigh::parallel_find(v, -1) - v.begin(), 800);  // as ==
  std::vector<short> const shorts(1000, -1);
  EXPECT_EQ(nigh::parallel_count(shorts, 65535u), 0u);
  EXPECT_EQ(nigh::parallel_count(shorts, 4294967295u), 1000u);
  EXPECT_EQ(nigh::parallel_count(shorts, -1.0), 1000u);
}

}  // namespace
