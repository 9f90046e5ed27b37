// SPDX-License-Identifier: Apache-2.0
#pragma once
// An algorithm of the standard library called without a policy and with each parallel one, on equal
// inputs: all must return the same and leave the same behind. Includes <nigh/pstl.hpp> first, so
// include this first.

#include <nigh/pstl.hpp>
// In this order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <execution>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

// Ordered by its key alone, so that equal elements can be told apart; owns memory, so that one that
// is lost, or destroyed twice, is seen by the address sanitizer.
struct owner {
  owner() : owner(0, 0) {}
  owner(int k, int n) : key(k), number(std::make_unique<int>(n)) {}
  owner(owner const& other) : owner(other.key, *other.number) {}
  owner(owner&&) noexcept = default;
  owner& operator=(owner const& other) { return *this = owner(other); }
  owner& operator=(owner&&) noexcept = default;

  bool operator<(owner const& other) const { return key < other.key; }
  bool operator==(owner const& other) const { return key == other.key; }
  bool is(owner const& other) const { return key == other.key && *number == *other.number; }

  int key;
  std::unique_ptr<int> number;
};

inline bool identical(owner const& a, owner const& b) { return a.is(b); }
template <class T>
bool identical(T const& a, T const& b) {
  return a == b;
}

// Many equal ones; no two neighbouring sizes have the same sequence.
inline std::uint32_t hash(std::size_t i, std::size_t seed) {
  auto x = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15u + seed * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 31)) * 0x94d049bb133111ebu;
  return static_cast<std::uint32_t>(x >> 40);
}
template <class T>
T made(std::uint32_t key, std::size_t i) {
  if constexpr (std::is_same_v<T, std::string>)
    return (key % 2 == 0 ? "short " : "too long for a string's own place: ") + std::to_string(key);
  else if constexpr (std::is_same_v<T, owner>)
    return owner(static_cast<int>(key), static_cast<int>(i));
  else
    return static_cast<T>(key);
}

// Two sequences of n elements, and room for the results.
template <class T>
struct inputs {
  explicit inputs(std::size_t n) : out(2 * n) {
    for (std::size_t i = 0; i < n; ++i) {
      a.push_back(made<T>(hash(i, n) % 1000, i));
      b.push_back(made<T>(hash(i, n + 1) % 1000, n + i));
    }
  }
  void sort() {
    std::stable_sort(a.begin(), a.end());
    std::stable_sort(b.begin(), b.end());
  }
  std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(a.size()); }

  std::vector<T> a, b, out;
};

template <class T>
void expect_identical(char const* what, std::vector<T> const& one, std::vector<T> const& other) {
  ASSERT_EQ(one.size(), other.size()) << what;
  for (std::size_t i = 0; i < one.size(); ++i)
    ASSERT_TRUE(identical(one[i], other[i])) << what << " at " << i << " of " << one.size();
}

#ifdef NIGH_SANITIZED
constexpr std::size_t sizes[] = {0, 1, 3, 1000, 7001};
#else
constexpr std::size_t sizes[] = {0, 1, 2, 3, 17, 1000, 20011};
#endif

// f(inputs) and f(inputs, policy) for all sizes: what f returns must be the same, and the inputs
// afterwards.
template <class T, class F>
void same(bool sorted, F const& f) {
  for (auto const n : sizes) {
    SCOPED_TRACE(std::to_string(n) + " elements");
    inputs<T> const from = [&] {
      inputs<T> made_now(n);
      if (sorted) made_now.sort();
      return made_now;
    }();
    auto serial = from;
    auto const expected = f(serial);
    auto const check = [&](auto const& policy, char const* name) {
      auto parallel = from;
      EXPECT_TRUE(identical(f(parallel, policy), expected)) << name;
      expect_identical(name, parallel.a, serial.a);
      expect_identical(name, parallel.b, serial.b);
      expect_identical(name, parallel.out, serial.out);
    };
    check(std::execution::par, "par");
    check(std::execution::par_unseq, "par_unseq");
  }
}

template <class T>
class PstlTyped : public testing::Test {
 public:
  template <class F>
  static void on_any(F const& f) {
    same<T>(false, f);
  }
  template <class F>
  static void on_sorted(F const& f) {
    same<T>(true, f);
  }
};
using element_types = testing::Types<int, owner>;

// About a third of the elements.
template <class T>
bool chosen(T const& x) {
  if constexpr (std::is_same_v<T, std::string>)
    return x.back() % 3 == 0;
  else if constexpr (std::is_same_v<T, owner>)
    return x.key % 3 == 0;
  else
    return static_cast<int>(x) % 3 == 0;
}

// In none of the sequences, and greater than all of theirs.
template <class T>
T stranger() {
  if constexpr (std::is_same_v<T, std::string>)
    return "zzz";
  else
    return made<T>(5000, 5000);
}

}  // namespace
