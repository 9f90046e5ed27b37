// SPDX-License-Identifier: Apache-2.0
// The promises of the headers of reductions, scans and sorts.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <nigh/parallel_reduce.hpp>
#include <nigh/parallel_scan.hpp>
#include <nigh/parallel_sort.hpp>
#include <nigh/runtime.hpp>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using nigh::index_range;
using nigh::parallel_reduce;

nigh::topology const& two_by_four() {
  static auto const one = nigh::topology::from_synthetic("pack:2 numa:1 core:4 pu:1").value();
  return one;
}
nigh::runtime_options with_workers(int n) {
  nigh::runtime_options options;
  options.machine = &two_by_four();
  options.workers = n;
  return options;
}

TEST(Reduce, AddsEverythingOnce) {
  nigh::runtime runtime(with_workers(4));
  for (char const* name : {"static", "static,3", "dynamic,2", "guided", "adaptive", "local"})
    for (auto const order : {nigh::reduction::as_it_comes, nigh::reduction::deterministic})
      for (long n : {0L, 1L, 2L, 511L, 512L, 513L, 100'000L}) {
        nigh::reduce_options o;
        o.how = nigh::parse_schedule(name).value();
        o.where = &runtime;
        o.order = order;
        auto const expected = n * (n - 1) / 2;
        auto const plus = std::plus<long>();
        EXPECT_EQ(parallel_reduce(0L, n, 0L, [](long i) { return i; }, plus, o), expected);
        EXPECT_EQ(parallel_reduce(
                      0L, n, 0L, [](long i, long sum) { return sum + i; }, plus, o),
                  expected);
        EXPECT_EQ(parallel_reduce(
                      0L, n, 0L,
                      [](index_range r, long sum) {
                        for (auto i = r.begin; i < r.end; ++i) sum += static_cast<long>(i);
                        return sum;
                      },
                      plus, o),
                  expected);
      }
}

// Addition of doubles is not associative: these sums differ in their last bits by order.
TEST(Reduce, IsTheSameToTheLastBitWhenAsked) {
  std::vector<double> values(100'003);
  std::mt19937 random(7);
  for (double& v : values)
    v = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 60));
  std::vector<double> sums;
  for (int workers : {1, 2, 3, 8}) {
    nigh::runtime runtime(with_workers(workers));
    for (char const* name : {"static", "static,3", "dynamic,2", "guided", "adaptive", "local"}) {
      nigh::reduce_options o;
      o.how = nigh::parse_schedule(name).value();
      o.where = &runtime;
      o.order = nigh::reduction::deterministic;
      sums.push_back(parallel_reduce(
          std::size_t{0}, values.size(), 0.0, [&](std::size_t i) { return values[i]; },
          std::plus<double>(), o));
    }
  }
  for (double const s : sums) EXPECT_EQ(s, sums[0]);
}

// The order is that of the iterations, so combining needs not commute.
TEST(Reduce, CombinesInOrderWhenAsked) {
  nigh::runtime runtime(with_workers(4));
  nigh::reduce_options o;
  o.where = &runtime;
  o.order = nigh::reduction::deterministic;
  std::string expected;
  for (int i = 0; i < 5000; ++i) expected += std::to_string(i) + ' ';
  EXPECT_EQ(parallel_reduce(
                0, 5000, std::string(), [](int i) { return std::to_string(i) + ' '; },
                [](std::string a, std::string const& b) { return a += b; }, o),
            expected);
}

TEST(Reduce, OfBooleansAndMoveableThings) {
  EXPECT_FALSE(parallel_reduce(
      0, 10'000, true, [](int i) { return i != 77; }, std::logical_and<bool>(),
      nigh::dynamic_schedule(), nigh::reduction::deterministic));
  auto const lists = parallel_reduce(
      0, 1000, std::vector<int>(),
      [](int i, std::vector<int> v) {
        v.push_back(i);
        return v;
      },
      [](std::vector<int> a, std::vector<int> const& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
      });
  EXPECT_EQ(std::accumulate(lists.begin(), lists.end(), 0), 999 * 500);
}

TEST(Reduce, Rethrows) {
  for (auto const order : {nigh::reduction::as_it_comes, nigh::reduction::deterministic}) {
    nigh::reduce_options o;
    o.order = order;
    EXPECT_THROW(parallel_reduce(
                     0, 1000, 0,
                     [](int i) {
                       if (i == 500) throw std::runtime_error("no");
                       return i;
                     },
                     std::plus<int>(), o),
                 std::runtime_error);
  }
}

TEST(Reduce, TakesBodiesWithAuto) {
  EXPECT_EQ(parallel_reduce(
                0, 10, 0, [](auto i, auto value) { return value + i; }, std::plus<int>()),
            45);
  EXPECT_EQ(
      parallel_reduce(0, 10, 0, [](auto i) { return static_cast<int>(i); }, std::plus<int>()), 45);
}

TEST(Scan, TakesTheIdentityForWhatItScans) {
  std::vector<double> const in{1, 2, 3};
  std::vector<double> out(3);
  EXPECT_EQ(nigh::parallel_inclusive_scan(std::span(in), std::span(out), 0, std::plus<>()), 6);
  EXPECT_EQ(nigh::parallel_exclusive_scan(std::span(in), std::span(out), 1, std::plus<>()), 7);
}

TEST(Scan, GivesAllPrefixes) {
  nigh::runtime runtime(with_workers(4));
  for (char const* name : {"static", "dynamic", "adaptive", "local"})
    for (std::size_t n : {0u, 1u, 5u, 4096u, 4097u, 100'000u, 1'000'003u}) {
      nigh::loop_options o;
      o.how = nigh::parse_schedule(name).value();
      o.where = &runtime;
      std::vector<unsigned> in(n), out(n), expected(n);
      std::mt19937 random(3);
      for (auto& x : in) x = static_cast<unsigned>(random());
      std::inclusive_scan(in.begin(), in.end(), expected.begin());
      auto const total = nigh::parallel_inclusive_scan(std::span(in), std::span(out), 0u,
                                                       std::plus<unsigned>(), o);
      EXPECT_EQ(out, expected) << n;
      EXPECT_EQ(total, n == 0 ? 0 : expected.back());
      std::exclusive_scan(in.begin(), in.end(), expected.begin(), 0u);
      nigh::parallel_exclusive_scan(std::span(in), std::span(in), 0u, std::plus<unsigned>(), o);
      EXPECT_EQ(in, expected) << n;  // in place
    }
}

// Matrices do not commute.
TEST(Scan, KeepsTheOrder) {
  struct affine {
    unsigned a = 1, b = 0;
    bool operator==(affine const&) const = default;
  };
  auto const then = [](affine f, affine g) { return affine{g.a * f.a, g.a * f.b + g.b}; };
  std::vector<affine> in(50'000), out(in.size()), expected(in.size());
  for (unsigned i = 0; i < in.size(); ++i) in[i] = {2 * i + 1, i * i + 3};
  std::inclusive_scan(in.begin(), in.end(), expected.begin(), then);
  nigh::parallel_inclusive_scan(std::span(in), std::span(out), affine{}, then);
  EXPECT_TRUE(out == expected);
}

TEST(Scan, RefusesOutputsOfAnotherLength) {
  std::vector<int> in(3), out(4);
  try {
    nigh::parallel_inclusive_scan(std::span(in), std::span(out), 0, std::plus<int>());
    FAIL();
  } catch (std::invalid_argument const& e) {
    EXPECT_STREQ(e.what(), "a scan of 3 elements into 4");
  }
}

TEST(Sort, SortsAllKindsOfInput) {
  nigh::runtime runtime(with_workers(4));
  std::mt19937 random(11);
  for (std::size_t n : {0u, 1u, 2u, 8192u, 8193u, 50'000u, 300'001u})
    for (unsigned distinct : {1u, 2u, 100u, 1u << 30}) {
      std::vector<unsigned> v(n);
      for (auto& x : v) x = static_cast<unsigned>(random()) % distinct;
      auto expected = v;
      std::sort(expected.begin(), expected.end());
      auto const shuffled = v;
      nigh::parallel_sort(v.begin(), v.end(), {}, &runtime);
      EXPECT_EQ(v, expected) << n;
      nigh::parallel_sort(v.begin(), v.end(), {}, &runtime);  // sorted already
      EXPECT_EQ(v, expected) << n;
      std::reverse(v.begin(), v.end());
      nigh::parallel_sort(v.begin(), v.end(), {}, &runtime);
      EXPECT_EQ(v, expected) << n;
    }
}

TEST(Sort, StableKeepsTheOrderOfEquals) {
  struct item {
    unsigned key, place;
  };
  std::vector<item> v(200'000);
  std::mt19937 random(5);
  for (unsigned i = 0; i < v.size(); ++i) v[i] = {static_cast<unsigned>(random()) % 50, i};
  nigh::parallel_stable_sort(v.begin(), v.end(),
                             [](item const& a, item const& b) { return a.key < b.key; });
  for (std::size_t i = 1; i < v.size(); ++i) {
    ASSERT_LE(v[i - 1].key, v[i].key);
    if (v[i - 1].key == v[i].key) {
      ASSERT_LT(v[i - 1].place, v[i].place);
    }
  }
}

TEST(Sort, MovesWhatCannotBeCopied) {
  std::vector<std::unique_ptr<int>> v;
  for (int i = 0; i < 30'000; ++i) v.push_back(std::make_unique<int>(i * 7919 % 30'011));
  nigh::parallel_sort(v.begin(), v.end(), [](auto const& a, auto const& b) { return *a < *b; });
  EXPECT_TRUE(
      std::is_sorted(v.begin(), v.end(), [](auto const& a, auto const& b) { return *a < *b; }));
}

TEST(Sort, RethrowsAndLosesNoMemory) {
  std::vector<std::string> v;
  for (int i = 0; i < 40'000; ++i) v.push_back("a string that needs memory " + std::to_string(i));
  std::atomic<int> compared{0};
  EXPECT_THROW(nigh::parallel_sort(v.begin(), v.end(),
                                   [&](std::string const& a, std::string const& b) {
                                     if (++compared == 100'000) throw std::runtime_error("enough");
                                     return a < b;
                                   }),
               std::runtime_error);
  EXPECT_EQ(v.size(), 40'000u);
}

// A type that is copied because its move may throw; the sanitizer checks the buffer.
TEST(Sort, LosesNoMemoryWhenACopyThrows) {
  struct copied {
    int value = 0;
    std::atomic<int>* left = nullptr;  // copies
    copied(int v, std::atomic<int>* l) : value(v), left(l) {}
    copied(copied const& other) : value(other.value), left(other.left) { count(); }
    copied& operator=(copied const& other) {
      value = other.value;
      left = other.left;
      count();
      return *this;
    }
    void count() const {
      if (--*left < 0) throw std::runtime_error("no more copies");
    }
  };
  for (int const copies : {0, 5'000, 30'000, 100'000}) {
    std::atomic<int> left{1 << 30};
    std::vector<copied> v;
    for (int i = 0; i < 20'000; ++i) v.emplace_back(i * 7919 % 30'011, &left);
    left = copies;
    EXPECT_THROW(
        nigh::parallel_sort(v.begin(), v.end(),
                            [](copied const& a, copied const& b) { return a.value < b.value; }),
        std::runtime_error)
        << copies;
  }
}

}  // namespace
