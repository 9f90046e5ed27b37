// SPDX-License-Identifier: Apache-2.0
#pragma once
// The calls that nigh bench algorithms measures: of one algorithm on an array, by each library.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench::algorithms {

struct Record {
  std::int64_t key = 0;
  std::array<std::int64_t, 7> rest{};

  friend bool operator<(Record const& a, Record const& b) noexcept { return a.key < b.key; }
  friend bool operator==(Record const& a, Record const& b) noexcept { return a.key == b.key; }
};
static_assert(sizeof(Record) == 64);

inline std::int64_t key_of(Record const& r) noexcept { return r.key; }
inline std::int64_t key_of(double x) noexcept { return static_cast<std::int64_t>(x); }
inline std::int64_t key_of(std::int32_t x) noexcept { return x; }

template <class T>
T with_key(std::int64_t key) noexcept {
  if constexpr (std::is_same_v<T, Record>)
    return {.key = key, .rest = {}};
  else
    return static_cast<T>(key);
}

// The functions that the algorithms are called with.
struct IsOdd {
  template <class T>
  bool operator()(T const& x) const noexcept {
    return (key_of(x) & 1) != 0;
  }
};
struct IsSought {  // the last element alone
  template <class T>
  bool operator()(T const& x) const noexcept {
    return key_of(x) < 0;
  }
};
struct Next {
  template <class T>
  T operator()(T x) const noexcept {
    if constexpr (std::is_arithmetic_v<T>)
      x += T{1};
    else
      ++x.key;
    return x;
  }
};
struct Step {
  template <class T>
  void operator()(T& x) const noexcept {
    x = Next()(x);
  }
};
struct Square {
  template <class T>
  T operator()(T const& x) const noexcept {
    return x * x;
  }
};
template <class T>
struct Seven {
  T operator()() const noexcept { return with_key<T>(7); }
};
inline constexpr std::size_t bins = 64;
struct Bin {
  template <class T>
  std::size_t operator()(T const& x) const noexcept {
    return static_cast<std::size_t>(key_of(x)) % bins;
  }
};

// One number for the least and the greatest element, or for the counts of all bins.
template <class T>
std::int64_t found_both(T const& least, T const& greatest) noexcept {
  return key_of(least) * 31 + key_of(greatest);
}
template <class Counts>
std::int64_t found_counts(Counts const& counts) noexcept {
  std::uint64_t found = 0;
  for (auto const count : counts) found = found * 31 + static_cast<std::uint64_t>(count);
  return static_cast<std::int64_t>(found);
}

// `data` holds n elements, which may be changed; `out` has room for as many. The halves of a
// merge's data are sorted. In a sort by key `out` holds the values, which equal their keys.
template <class T>
struct Arrays {
  T* data;
  T* out;
  std::size_t n;
  T* end() const noexcept { return data + n; }
};

// Does it, and returns what it found: a number, a place as an index, or how many elements were
// written.
template <class T>
using Call = std::function<std::int64_t(Arrays<T> const&)>;

template <class T>
struct NamedCall {
  std::string algorithm;
  Call<T> call;
};

template <class T>
using Calls = std::vector<NamedCall<T>>;

// A library's calls for each type of elements. `run` calls its argument where the library expects
// its callers.
struct Library {
  std::string name, absent;  // why it is not here: the rest is empty then
  std::function<void(std::function<void()> const&)> run = {};
  Calls<double> doubles = {};
  Calls<std::int32_t> integers = {};
  Calls<Record> records = {};
};

template <class T>
Calls<T> const& calls_of(Library const& library) noexcept {
  if constexpr (std::is_same_v<T, double>)
    return library.doubles;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return library.integers;
  else
    return library.records;
}

Library serial_library();
Library gnu_library(std::vector<int> const& cpus);
Library tbb_library(std::vector<int> const& cpus);
Library pstl_tbb_library(std::vector<int> const& cpus);
Library nigh_library(std::vector<int> const& cpus);
Library pstl_nigh_library(std::vector<int> const& cpus);

}  // namespace bench::algorithms
