// SPDX-License-Identifier: Apache-2.0
// The promises of parallel_sort.hpp, parallel_merge.hpp and parallel_partition.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <nigh/parallel_merge.hpp>
#include <nigh/parallel_partition.hpp>
#include <nigh/parallel_sort.hpp>
#include <nigh/runtime.hpp>
#include <numeric>
#include <random>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

nigh::topology const& sort_machine() {
  static auto const one = nigh::topology::from_synthetic("pack:2 numa:1 core:4 pu:1").value();
  return one;
}
nigh::runtime& sort_runtime(int n) {
  static std::unique_ptr<nigh::runtime> runtimes[9];
  auto& one = runtimes[n];
  if (one == nullptr) {
    nigh::runtime_options options;
    options.machine = &sort_machine();
    options.workers = n;
    one = std::make_unique<nigh::runtime>(options);
  }
  return *one;
}

// Inputs of n values in [0, distinct).
std::vector<std::vector<std::uint64_t>> patterns(std::size_t n, std::uint64_t distinct) {
  std::vector<std::vector<std::uint64_t>> all(8, std::vector<std::uint64_t>(n));
  std::mt19937_64 random(n + distinct);
  for (std::size_t i = 0; i < n; ++i) {
    all[0][i] = random() % distinct;
    all[1][i] = i * (distinct / (n + 1) + 1);          // sorted
    all[2][i] = (n - i) * (distinct / (n + 1) + 1);    // reversed
    all[3][i] = 7;                                     // equal
    all[4][i] = std::min(i, n - i);                    // organ pipe
    all[5][i] = i % 1000;                              // saw
    all[6][i] = i + 10 < n ? i : random() % distinct;  // sorted except for a few
    all[7][i] = random() % 100 != 0 ? 7 : random();    // mostly equal
  }
  return all;
}

template <class T>
struct Sorts : testing::Test {};
#ifdef NIGH_SANITIZED  // each size of key, and each way to order their bits
using number_types = testing::Types<signed char, unsigned short, int, double>;
#else
using number_types = testing::Types<signed char, unsigned char, short, unsigned short, int,
                                    unsigned, long, unsigned long, float, double>;
#endif
TYPED_TEST_SUITE(Sorts, number_types);

TYPED_TEST(Sorts, NumbersBothWays) {
  for (int const workers : {1, 3})
    for (std::size_t const n : {2u, 33u, 1500u, 20'000u, workers == 1 ? 0u : 270'000u})
      for (std::uint64_t const distinct : {3ul, 1ul << 40})
        for (auto const& pattern : patterns(n, distinct)) {
          std::vector<TypeParam> v(n);
          for (std::size_t i = 0; i < n; ++i) {
            v[i] = static_cast<TypeParam>(pattern[i]);
            if (std::is_signed_v<TypeParam> && i % 2 == 0) v[i] = static_cast<TypeParam>(-v[i]);
          }
          auto expected = v, fallen = v;
          std::sort(expected.begin(), expected.end());
          nigh::parallel_sort(v, {}, &sort_runtime(workers));
          ASSERT_EQ(v, expected) << n;
          std::reverse(expected.begin(), expected.end());
          nigh::parallel_sort(fallen, std::greater<>(), &sort_runtime(workers));
          ASSERT_EQ(fallen, expected) << n;
        }
}

// Under a function of the caller's, numbers are compared: the buckets, the quicksort, the merges.
TEST(Sort, ComparedPatterns) {
  auto const less = [](std::uint64_t a, std::uint64_t b) { return a < b; };
  for (int const workers : {1, 8})
    for (std::size_t const n : {2u, 33u, 4097u, 100'000u})
      for (std::uint64_t const distinct : {3ul, 1ul << 60})
        for (auto const& pattern : patterns(n, distinct)) {
          auto v = pattern, stable = pattern, in_place = pattern, expected = pattern;
          std::sort(expected.begin(), expected.end());
          auto& runtime = sort_runtime(workers);
          nigh::parallel_sort(v.begin(), v.end(), less, &runtime);
          ASSERT_EQ(v, expected) << n;
          nigh::parallel_stable_sort(std::span(stable), less, &runtime);
          ASSERT_EQ(stable, expected) << n;
          auto const count = static_cast<std::ptrdiff_t>(n);
          nigh::detail::run_in(&runtime,
                               [&] { nigh::detail::sort_in_place(in_place.data(), count, less); });
          ASSERT_EQ(in_place, expected) << n;
          in_place = pattern;
          nigh::detail::run_in(
              &runtime, [&] { nigh::detail::sort_stably_in_place(in_place.data(), count, less); });
          ASSERT_EQ(in_place, expected) << n;
        }
}

// Quicksort alone, by the pattern that defeats medians of fixed places: it must end by heapsort.
TEST(Sort, OneThreadComparesNLogN) {
  for (std::size_t const n : {1000u, 100'000u})
    for (auto const& pattern : patterns(n, 1ul << 60)) {
      auto v = pattern;
      std::size_t compared = 0;
      nigh::detail::quick_sort(v.begin(), v.end(), [&](auto a, auto b) {
        ++compared;
        return a < b;
      });
      EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
      EXPECT_LT(static_cast<double>(compared),
                3 * static_cast<double>(n) * std::log2(static_cast<double>(n)));
    }
  // McIlroy's adversary (1999): it decides what an element is only when it is compared.
  std::size_t const n = 20'000;
  std::vector<int> value(n, static_cast<int>(n)), places(n);
  std::iota(places.begin(), places.end(), 0);
  int solid = 0, candidate = 0;
  std::size_t compared = 0;
  auto const at = [&](int i) -> int& { return value[static_cast<std::size_t>(i)]; };
  nigh::detail::quick_sort(places.begin(), places.end(), [&](int a, int b) {
    ++compared;
    auto const gas = static_cast<int>(n);
    if (at(a) == gas && at(b) == gas) at(a == candidate ? a : b) = solid++;
    if (at(a) == gas) candidate = a;
    if (at(b) == gas) candidate = b;
    return at(a) < at(b);
  });
  EXPECT_LT(compared, 8 * n * 15);
}

TEST(Sort, ZerosAndNaNsHaveAPlace) {
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  auto const infinity = std::numeric_limits<double>::infinity();
  for (std::size_t const n : {20u, 5000u, 100'000u}) {
    std::vector<double> v(n);
    std::mt19937 random(3);
    double const some[] = {nan, -nan, 0.0, -0.0, infinity, -infinity, 1.5, -1.5};
    for (auto& x : v) x = some[random() % 8];
    auto fallen = v;
    auto const before = [](double a, double b) { return std::strong_order(a, b) < 0; };
    auto expected = v;
    std::sort(expected.begin(), expected.end(), before);
    auto const bits = [](std::vector<double> const& of) {
      std::vector<std::uint64_t> all;
      for (double const x : of) all.push_back(std::bit_cast<std::uint64_t>(x));
      return all;
    };
    nigh::parallel_sort(v, {}, &sort_runtime(3));
    EXPECT_EQ(bits(v), bits(expected));
    std::reverse(expected.begin(), expected.end());
    nigh::parallel_sort(fallen, std::ranges::greater(), &sort_runtime(3));
    EXPECT_EQ(bits(fallen), bits(expected));
  }
}

// An order that contradicts itself: no crash, and nothing lost.
TEST(Sort, NaNsUnderAFunctionLoseNothing) {
  for (std::size_t const n : {20u, 31u, 3000u, 100'000u}) {
    std::vector<double> v(n);
    std::mt19937 random(5);
    for (auto& x : v)
      x = random() % 3 != 0 ? std::numeric_limits<double>::quiet_NaN()
                            : static_cast<double>(random() % 100);
    auto const number_of_nans = std::count_if(v.begin(), v.end(), [](double x) { return x != x; });
    auto const sum = [](std::vector<double> const& of) {
      return std::accumulate(of.begin(), of.end(), 0.0,
                             [](double s, double x) { return x == x ? s + x : s; });
    };
    auto const expected = sum(v);
    auto stable = v;
    nigh::parallel_sort(v, [](double a, double b) { return a < b; }, &sort_runtime(3));
    nigh::parallel_stable_sort(stable, {}, &sort_runtime(3));
    for (auto const* of : {&v, &stable}) {
      EXPECT_EQ(std::count_if(of->begin(), of->end(), [](double x) { return x != x; }),
                number_of_nans);
      EXPECT_EQ(sum(*of), expected);
    }
  }
}

TEST(Sort, StableKeepsEqualsAndZeros) {
  struct item {
    unsigned key, place;
    bool operator==(item const&) const = default;
  };
  auto const less = [](item const& a, item const& b) { return a.key < b.key; };
  for (int const workers : {1, 4})
    for (std::size_t const n : {40u, 4000u, 100'000u})
      for (unsigned const distinct : {2u, 50u, 100'000u}) {
        std::vector<item> v(n);
        std::mt19937 random(5);
        for (unsigned i = 0; i < n; ++i) v[i] = {static_cast<unsigned>(random()) % distinct, i};
        auto expected = v, in_place = v;
        std::stable_sort(expected.begin(), expected.end(), less);
        nigh::parallel_stable_sort(v, less, &sort_runtime(workers));
        EXPECT_EQ(v, expected);
        nigh::detail::sort_stably_in_place(in_place.data(), static_cast<std::ptrdiff_t>(n), less);
        EXPECT_EQ(in_place, expected);
      }
  std::vector<double> zeros(10'000);
  for (std::size_t i = 0; i < zeros.size(); ++i) zeros[i] = i % 3 == 0 ? -0.0 : 0.0;
  zeros[0] = 1;
  nigh::parallel_stable_sort(zeros, {}, &sort_runtime(3));
  for (std::size_t i = 0; i + 1 < zeros.size(); ++i)
    ASSERT_EQ(std::signbit(zeros[i]), (i + 1) % 3 == 0);
}

// From 4097 elements on all workers look whether elements are in order already, or the other way
// round: then they are turned, equal ones only where they may change places.
TEST(Sort, TurnsWhatFalls) {
  struct Pair {
    int key, place;
    bool operator==(Pair const&) const = default;
  };
  auto const less = [](Pair const& a, Pair const& b) { return a.key < b.key; };
  int const n = 100'000;
  for (int const flaw : {0, 1, 2}) {
    std::vector<Pair> fallen;
    for (int i = 0; i < n; ++i) fallen.push_back({(n - i) / 2, i});
    if (flaw == 1) fallen.back().key = n;
    if (flaw == 2) fallen[n / 2].key = n;
    auto v = fallen, stable = fallen, expected = fallen;
    std::stable_sort(expected.begin(), expected.end(), less);
    nigh::parallel_sort(v, less, &sort_runtime(3));
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), less)) << flaw;
    nigh::parallel_stable_sort(stable, less, &sort_runtime(3));
    EXPECT_EQ(stable, expected) << flaw;
    std::sort(v.begin(), v.end(), [](auto& a, auto& b) { return a.place < b.place; });
    EXPECT_EQ(v, fallen) << flaw;  // none is lost
  }
}

TEST(Sort, MovesOnlyAndOtherIterators) {
  auto const less = [](auto const& a, auto const& b) { return *a < *b; };
  std::deque<std::unique_ptr<int>> d;
  for (int i = 0; i < 60'000; ++i) d.push_back(std::make_unique<int>(i * 7919 % 30'011));
  nigh::parallel_sort(d.begin(), d.end(), less, &sort_runtime(3));
  EXPECT_TRUE(std::is_sorted(d.begin(), d.end(), less));
  nigh::parallel_stable_sort(d.rbegin(), d.rend(), less, &sort_runtime(3));
  EXPECT_TRUE(std::is_sorted(d.rbegin(), d.rend(), less));
  nigh::parallel_sort(d, less, &sort_runtime(3));
  EXPECT_TRUE(std::is_sorted(d.begin(), d.end(), less));
  int few[] = {3, 1, 2};
  nigh::parallel_sort(few);
  EXPECT_EQ(few[0] * 100 + few[1] * 10 + few[2], 123);
}

TEST(Sort, TrueIsAnyNumberButZero) {
  auto const less = [](unsigned a, unsigned b) { return (a - b) & 0x80000000U; };
  for (std::size_t const n : {4U, 5U, 8U, 20U, 100U, 100'000U}) {
    std::vector<unsigned> v(n);
    std::mt19937 random(static_cast<unsigned>(n));
    for (auto& x : v) x = static_cast<unsigned>(random() % 1'000'000);
    auto right = v, stable = v;
    std::sort(right.begin(), right.end());
    sort_runtime(4).invoke([&] {
      nigh::parallel_sort(v, less);
      nigh::parallel_stable_sort(stable, less);
    });
    EXPECT_EQ(v, right) << n;
    EXPECT_EQ(stable, right) << n;
  }
}

// Wherever a comparison throws, all elements are there once.
TEST(Sort, ThrowingComparisonsLoseNothing) {
  std::size_t const n = 30'000;
  std::vector<std::string> names;
  std::vector<int> numbers(n);
  for (std::size_t i = 0; i < n; ++i) {
    numbers[i] = static_cast<int>(i * 7919 % n);
    names.push_back("a string that needs memory " + std::to_string(numbers[i]));
  }
  auto const check = [&](auto const& original, auto sort) {
    auto expected = original;
    std::sort(expected.begin(), expected.end());
    for (int const limit : {1, 500, 50'000, 100'000, 300'000}) {
      auto v = original;
      std::atomic<int> compared{0};
      auto const less = [&](auto const& a, auto const& b) {
        if (++compared >= limit) throw std::runtime_error("enough");
        return a < b;
      };
      EXPECT_THROW(sort(v, less), std::runtime_error) << limit;
      std::sort(v.begin(), v.end());
      ASSERT_EQ(v, expected) << limit;
    }
  };
  for (int const workers : {1, 3}) {
    auto* const runtime = &sort_runtime(workers);
    auto const sort = [&](auto& v, auto const& less) { nigh::parallel_sort(v, less, runtime); };
    auto const stable = [&](auto& v, auto const& less) {
      nigh::parallel_stable_sort(v, less, runtime);
    };
    auto const in_place = [&](auto& v, auto const& less) {
      nigh::detail::run_in(runtime,
                           [&] { nigh::detail::sort_in_place(v.data(), std::ssize(v), less); });
    };
    auto const stable_in_place = [&](auto& v, auto const& less) {
      nigh::detail::run_in(
          runtime, [&] { nigh::detail::sort_stably_in_place(v.data(), std::ssize(v), less); });
    };
    auto const by_key = [&](auto& v, auto const& less) {
      std::vector<int> places(v.size());
      nigh::parallel_sort_by_key(v, places, less, runtime);
    };
    check(numbers, sort), check(names, sort);
    check(numbers, stable), check(names, stable);
    check(numbers, in_place), check(names, in_place);
    check(numbers, stable_in_place), check(names, stable_in_place);
    check(names, by_key);
  }
}

TEST(SortByKey, BringsValuesAlong) {
  for (int const workers : {1, 3})
    for (std::size_t const n : {0u, 1u, 5u, 5000u, 100'000u}) {
      std::vector<int> keys(n);
      std::vector<std::unique_ptr<int>> values(n);
      std::mt19937 random(9);
      for (std::size_t i = 0; i < n; ++i) {
        keys[i] = static_cast<int>(random() % 1000);
        values[i] = std::make_unique<int>(keys[i]);
      }
      auto expected = keys;
      std::sort(expected.begin(), expected.end());
      nigh::parallel_sort_by_key(keys, values, std::less<>(), &sort_runtime(workers));
      ASSERT_EQ(keys, expected);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(*values[i], keys[i]);

      std::vector<std::size_t> places(n);
      std::iota(places.begin(), places.end(), std::size_t{0});
      for (auto& k : keys) k = k % 10;
      nigh::parallel_stable_sort_by_key(keys.begin(), keys.end(), places.begin(), std::greater<>(),
                                        &sort_runtime(workers));
      for (std::size_t i = 1; i < n; ++i) {
        ASSERT_GE(keys[i - 1], keys[i]);
        if (keys[i - 1] == keys[i]) {
          ASSERT_LT(places[i - 1], places[i]);
        }
      }
    }
  std::vector<int> keys(3), values(4);
  try {
    nigh::parallel_sort_by_key(keys, values);
    FAIL();
  } catch (std::invalid_argument const& e) {
    EXPECT_STREQ(e.what(), "a sort of 3 keys with 4 values");
  }
}

// Over two domains, each worker begins with what lies in its own one.
TEST(Sort, ArraysNearTheirData) {
  nigh::array_options options;
  options.machine = &sort_machine();
  for (std::size_t const n : {1000u, 400'000u})
    for (auto const rule : {nigh::placement::blocked(), nigh::placement::cyclic(4096)}) {
      nigh::array<double> a(n, rule, options);
      nigh::array<std::uint64_t> b(n, rule, options);
      std::mt19937_64 random(n);
      for (std::size_t i = 0; i < n; ++i) b[i] = random(), a[i] = static_cast<double>(b[i]) - 9e18;
      std::vector<double> expected(a.begin(), a.end());
      std::vector<std::uint64_t> expected_b(b.begin(), b.end());
      std::sort(expected.begin(), expected.end());
      std::sort(expected_b.begin(), expected_b.end());
      nigh::parallel_sort(a, {}, &sort_runtime(8));
      EXPECT_TRUE(std::equal(a.begin(), a.end(), expected.begin()));
      nigh::parallel_sort(b, [](auto x, auto y) { return x < y; }, &sort_runtime(8));
      EXPECT_TRUE(std::equal(b.begin(), b.end(), expected_b.begin()));
    }
}

TEST(Merge, IsStableAndComplete) {
  struct item {
    int key, from;
    bool operator==(item const&) const = default;
  };
  auto const less = [](item const& a, item const& b) { return a.key < b.key; };
  std::mt19937 random(13);
  for (std::size_t const na : {0u, 1u, 100u, 100'000u})
    for (std::size_t const nb : {0u, 7u, 70'000u}) {
      std::vector<item> a(na), b(nb), expected(na + nb), out(na + nb);
      for (auto& x : a) x = {static_cast<int>(random() % 1000), 0};
      for (auto& x : b) x = {static_cast<int>(random() % 1000), 1};
      std::sort(a.begin(), a.end(), less);
      std::sort(b.begin(), b.end(), less);
      std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(), less);
      EXPECT_EQ(nigh::parallel_merge(a.begin(), a.end(), b.begin(), b.end(), out.begin(), less,
                                     &sort_runtime(3)),
                out.end());
      EXPECT_EQ(out, expected);
      std::fill(out.begin(), out.end(), item{});
      nigh::parallel_merge(a, b, std::span(out), less, &sort_runtime(3));
      EXPECT_EQ(out, expected);
    }
  std::vector<std::string> words(20'000, "word"), others(20'000, "other"), all(40'000);
  EXPECT_EQ(nigh::parallel_merge(others, words, all.begin()), all.end());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(words[0], "word");  // copied
  nigh::parallel_merge(std::move_iterator(others.begin()), std::move_iterator(others.end()), words.begin(), words.end(),
                       all.begin());
  EXPECT_EQ(others[0] + all[0] + words[0], "otherword");  // moved
  try {
    nigh::parallel_merge(words, words, others);
    FAIL();
  } catch (std::invalid_argument const& e) {
    EXPECT_STREQ(e.what(), "a merge of 20000 and 20000 elements into 20000");
  }
}

TEST(Merge, TakesElementsThatAreMadeOnTheFly) {
  std::vector<int> odd(50'000), merged(100'000), right(100'000);
  for (std::size_t i = 0; i < odd.size(); ++i) odd[i] = static_cast<int>(2 * i + 1);
  std::iota(right.begin(), right.end(), 0);
  auto const twice = std::views::iota(0, 50'000) | std::views::transform([](int i) { return 2 * i; });
  sort_runtime(4).invoke([&] {
    nigh::parallel_merge(odd.begin(), odd.end(), twice.begin(), twice.end(), merged.begin());
  });
  EXPECT_EQ(merged, right);
}

TEST(Partition, DividesAndKeepsAll) {
  for (int const workers : {1, 8})
    for (std::size_t const n : {0u, 1u, 2u, 1000u, 32'768u, 100'001u})
      for (unsigned const share : {0u, 1u, 50u, 99u, 100u}) {
        std::vector<unsigned> v(n);
        std::mt19937 random(n + share);
        for (auto& x : v) x = static_cast<unsigned>(random() % 1'000'000);
        std::atomic<std::size_t> calls{0};
        auto const first = [&](unsigned x) {
          ++calls;
          return x % 100 < share;
        };
        auto expected = v, stable = v;
        auto const border =
            std::stable_partition(expected.begin(), expected.end(), first) - expected.begin();
        calls = 0;
        auto const rest = nigh::parallel_partition(v, first, &sort_runtime(workers));
        EXPECT_EQ(calls, n);
        EXPECT_EQ(rest.begin() - v.begin(), border);
        EXPECT_EQ(rest.end(), v.end());
        EXPECT_TRUE(std::is_partitioned(v.begin(), v.end(), first));
        calls = 0;
        EXPECT_EQ(nigh::parallel_stable_partition(stable.begin(), stable.end(), first,
                                                  &sort_runtime(workers)) -
                      stable.begin(),
                  border);
        EXPECT_EQ(calls, n);
        EXPECT_EQ(stable, expected);
        std::sort(v.begin(), v.end());
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(v, expected);
      }
}

TEST(Partition, ThrowingPredicatesLoseNothing) {
  std::vector<std::string> all;
  for (int i = 0; i < 50'000; ++i) all.push_back("a string that needs memory " + std::to_string(i));
  auto const expected = [&] {
    auto e = all;
    std::sort(e.begin(), e.end());
    return e;
  }();
  for (int const limit : {1, 1000, 49'999}) {
    std::atomic<int> calls{0};
    auto const first = [&](std::string const& s) {
      if (++calls == limit) throw std::runtime_error("enough");
      return s.back() < '5';
    };
    auto v = all;
    EXPECT_THROW(nigh::parallel_partition(v, first, &sort_runtime(3)), std::runtime_error);
    std::sort(v.begin(), v.end());
    EXPECT_EQ(v, expected);
    calls = 0;
    v = all;
    EXPECT_THROW(nigh::parallel_stable_partition(v, first, &sort_runtime(3)), std::runtime_error);
    EXPECT_EQ(v, all);
  }
}

}  // namespace
