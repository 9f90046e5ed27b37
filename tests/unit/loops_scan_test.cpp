// SPDX-License-Identifier: Apache-2.0
// The promises of parallel_scan.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <nigh/parallel_scan.hpp>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

nigh::topology const& scan_machine() {
  static auto const one = nigh::topology::from_synthetic("pack:2 numa:1 core:4 pu:1").value();
  return one;
}
nigh::runtime_options scan_runtime(int n) {
  nigh::runtime_options options;
  options.machine = &scan_machine();
  options.workers = n;
  return options;
}

TEST(Scan, TakesRangesAndIterators) {
  std::vector<double> const v{1, 2, 3};
  std::vector<double> out(3);
  EXPECT_EQ(nigh::parallel_inclusive_scan(v, out, 0.0), 6);
  EXPECT_EQ(out, (std::vector<double>{1, 3, 6}));
  EXPECT_EQ(nigh::parallel_exclusive_scan(v, std::span(out), 10), 16);
  EXPECT_EQ(out, (std::vector<double>{10, 11, 13}));
  std::deque<int> d{4, 5};
  EXPECT_EQ(nigh::parallel_exclusive_scan(d.begin(), d.end(), d.begin(), 0), 9);
  EXPECT_EQ(d, (std::deque<int>{0, 4}));
  EXPECT_EQ(nigh::parallel_inclusive_scan(v.begin(), v.begin(), out.begin(), 7), 7);
  std::vector<double> none;
  EXPECT_EQ(nigh::parallel_inclusive_scan(none, none, 2.0), 2);
}

// The first value need not be an identity, however many tiles there are.
TEST(Scan, BeginsWithAnyValue) {
  nigh::runtime runtime(scan_runtime(3));
  nigh::loop_options o;
  o.where = &runtime;
  std::vector<int> const in(100'000, 1);
  std::vector<long> out(in.size());
  EXPECT_EQ(nigh::parallel_exclusive_scan(in, out, 5, std::plus<>(), o), 100'005);
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], static_cast<long>(i) + 5);
  EXPECT_EQ(nigh::parallel_inclusive_scan(in, out, 5, std::plus<>(), o), 100'005);
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], static_cast<long>(i) + 6);
}

// To the last bit: on any number of workers, in one pass or two.
TEST(Scan, DependsOnTheLengthAlone) {
  std::mt19937 random(7);
  for (std::size_t const n : {511u, 512u, 5000u, 8193u, 300'007u}) {
    std::vector<double> in(n);
    for (double& x : in)
      x = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 60));
    std::vector<double> expected, out(n);
    double total = 0;
    for (int const workers : {1, 2, 5, 8}) {
      nigh::runtime runtime(scan_runtime(workers));
      nigh::loop_options o;
      o.where = &runtime;
      for (char const* name : {"", "static", "dynamic", "local"}) {
        if (*name != 0) o.how = nigh::parse_schedule(name).value();
        auto const sum = nigh::parallel_inclusive_scan(in, out, 0.0, std::plus<>(), o);
        if (expected.empty()) expected = out, total = sum;
        ASSERT_EQ(out, expected) << n << name;
        ASSERT_EQ(sum, total);
        ASSERT_EQ(sum, out.back());
      }
    }
  }
}

struct affine {  // does not commute
  unsigned a = 1, b = 0;
  bool operator==(affine const&) const = default;
};
affine then(affine f, affine g) { return {g.a * f.a, g.a * f.b + g.b}; }

// Plain sums go by vectors: whole ones, a rest, none.
template <class T>
void expect_prefix_sums() {
  std::mt19937 random(7);
  for (std::size_t const n : {1u, 2u, 7u, 8u, 9u, 33u, 1000u, 70'001u}) {
    std::vector<T> in(n), expected(n), out(n);
    for (T& x : in) x = static_cast<T>(random() % 8);  // no order of additions rounds
    T const from = 3;
    std::inclusive_scan(in.begin(), in.end(), expected.begin(), std::plus<>(), from);
    EXPECT_EQ(nigh::parallel_inclusive_scan(in, out, from), expected.back()) << n;
    EXPECT_EQ(out, expected) << n;
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), from);
    T const all = static_cast<T>(expected.back() + in.back());
    EXPECT_EQ(nigh::parallel_exclusive_scan(in, out, from), all) << n;
    EXPECT_EQ(out, expected) << n;
    auto in_place = in;
    EXPECT_EQ(nigh::parallel_exclusive_scan(in_place, in_place, from), all) << n;
    EXPECT_EQ(in_place, expected) << n;
  }
}
TEST(Scan, PlainSumsOfAllKinds) {
  expect_prefix_sums<float>();
  expect_prefix_sums<double>();
  expect_prefix_sums<int>();
  expect_prefix_sums<unsigned>();
  expect_prefix_sums<long>();
  expect_prefix_sums<short>();  // not by vectors
}

TEST(Scan, ZerosKeepTheirSign) {
  for (std::size_t const n : {1u, 33u, 70'001u}) {
    std::vector<double> out(n);
    nigh::parallel_inclusive_scan(std::vector<double>(n, -0.0), out, -0.0);
    EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](double x) { return std::signbit(x); })) << n;
  }
}

// Tiles in every order: workers that are held up leave theirs to others.
TEST(Scan, KeepsTheOrderWhateverWorkersDo) {
  std::vector<affine> in(200'000), out(in.size()), expected(in.size());
  for (unsigned i = 0; i < in.size(); ++i) in[i] = {2 * i + 1, i * i + 3};
  std::inclusive_scan(in.begin(), in.end(), expected.begin(), then);
  for (int const workers : {1, 2, 8}) {
    nigh::runtime runtime(scan_runtime(workers));
    nigh::loop_options o;
    o.where = &runtime;
    for (unsigned seed = 0; seed < 5; ++seed) {
      std::atomic<unsigned> calls{seed * 977};
      auto const slow = [&](affine f, affine g) {
        if (calls.fetch_add(1, std::memory_order_relaxed) % 5003 == 0) std::this_thread::yield();
        return then(f, g);
      };
      EXPECT_EQ(nigh::parallel_inclusive_scan(in, out, affine{}, slow, o), expected.back());
      ASSERT_EQ(out, expected);
    }
  }
}

TEST(Scan, InPlaceAndOfOtherTypes) {
  nigh::runtime runtime(scan_runtime(4));
  nigh::loop_options o;
  o.where = &runtime;
  std::vector<std::string> words(50'000, "abc");
  std::vector<std::size_t> lengths(words.size());
  struct add {
    std::size_t operator()(std::size_t sum, std::string const& s) const { return sum + s.size(); }
    std::size_t operator()(std::size_t a, std::size_t b) const { return a + b; }
  };
  EXPECT_EQ(nigh::parallel_exclusive_scan(words, lengths, 0, add(), o), 150'000u);
  for (std::size_t i = 0; i < words.size(); ++i) ASSERT_EQ(lengths[i], 3 * i);
  std::vector<unsigned> v(100'000, 1), expected(v.size());
  std::iota(expected.begin(), expected.end(), 0u);
  nigh::parallel_exclusive_scan(v, v, 0u, std::plus<>(), o);
  EXPECT_EQ(v, expected);
}

TEST(Scan, OfWhatCanOnlyBeMoved) {
  using pointer = std::unique_ptr<long>;
  auto const plus = [](pointer const& a, pointer const& b) {
    return std::make_unique<long>(*a + *b);
  };
  for (int const workers : {1, 4}) {
    nigh::runtime runtime(scan_runtime(workers));
    nigh::loop_options o;
    o.where = &runtime;
    for (std::size_t const n : {3u, 50'000u}) {
      std::vector<pointer> in, out(n);
      for (std::size_t i = 0; i < n; ++i) in.push_back(std::make_unique<long>(i));
      auto const sum = static_cast<long>(n * (n - 1) / 2);
      EXPECT_EQ(*nigh::parallel_inclusive_scan(in, out, std::make_unique<long>(0), plus, o), sum);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(*out[i], static_cast<long>(i * (i + 1) / 2));
      EXPECT_EQ(*nigh::parallel_exclusive_scan(in, in, std::make_unique<long>(0), plus, o), sum);
      for (std::size_t i = 1; i < n; ++i) ASSERT_EQ(*in[i], static_cast<long>(i * (i - 1) / 2));
    }
  }
}

TEST(Scan, RethrowsAndStops) {
  nigh::runtime runtime(scan_runtime(4));
  nigh::loop_options o;
  o.where = &runtime;
  std::vector<std::string> v(100'000, "x");
  std::atomic<int> calls{0};
  EXPECT_THROW(nigh::parallel_inclusive_scan(
                   v, v, std::string(),
                   [&](std::string a, std::string const& b) {
                     if (++calls == 70'000) throw std::runtime_error("no");
                     return a.size() > 8 ? std::string("y") : a += b;
                   },
                   o),
               std::runtime_error);
  std::vector<int> in(200'000, 1), out(in.size());
  nigh::task_scope scope({.where = &runtime});
  scope.request_stop();
  o.stop = scope.token();
  nigh::parallel_inclusive_scan(in, out, 0, std::plus<>(), o);
  EXPECT_EQ(out.back(), 0);
}

// By an array's placement over two domains: two passes, each tile near its data.
TEST(Scan, ArraysNearTheirData) {
  nigh::runtime runtime(scan_runtime(8));
  nigh::array_options placed;
  placed.machine = &scan_machine();
  nigh::loop_options o;
  o.where = &runtime;
  std::size_t const n = 400'000;
  for (auto const rule : {nigh::placement::blocked(), nigh::placement::cyclic(50'000)}) {
    nigh::array<std::uint64_t> in(n, rule, placed), out(n, rule, placed);
    for (std::size_t i = 0; i < n; ++i) in[i] = i * i;
    std::vector<std::uint64_t> expected(n);
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
    EXPECT_EQ(nigh::parallel_inclusive_scan(in, out, 0, std::plus<>(), o), expected.back());
    EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.begin()));
    nigh::parallel_inclusive_scan(in, in, 0, std::plus<>(), o);
    EXPECT_TRUE(std::equal(in.begin(), in.end(), expected.begin()));
  }
}

}  // namespace
