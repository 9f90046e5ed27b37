// SPDX-License-Identifier: Apache-2.0
#pragma once
// A set of positions: cpus, numbered in hardware order.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"

namespace nigh::policy {

// Positions [begin, end).
struct Range {
  int begin = 0;
  int end = 0;

  constexpr int size() const noexcept { return end - begin; }
  constexpr bool has(int p) const noexcept { return begin <= p && p < end; }
  bool operator==(Range const&) const = default;
};

class PositionSet {
 public:
  PositionSet() = default;
  explicit PositionSet(int size) : words_((static_cast<std::size_t>(size) + 63) / 64), size_(size) {
    NIGH_ASSERT(size >= 0, "a set has room for none or more");
  }
  static PositionSet all(int size) {
    PositionSet set(size);
    for (int p = 0; p < size; ++p) set.add(p);
    return set;
  }

  int size() const noexcept { return size_; }  // capacity, not members
  bool has(int p) const noexcept {
    return 0 <= p && p < size_ && (words_[word(p)] >> (p % 64) & 1) != 0;
  }
  void add(int p) noexcept {
    NIGH_DEBUG_ASSERT(0 <= p && p < size_, "a position of this machine");
    words_[word(p)] |= std::uint64_t{1} << (p % 64);
  }
  void remove(int p) noexcept {
    NIGH_DEBUG_ASSERT(0 <= p && p < size_, "a position of this machine");
    words_[word(p)] &= ~(std::uint64_t{1} << (p % 64));
  }

  int count() const noexcept { return count({0, size_}); }
  int count(Range in) const noexcept {
    if (in.begin >= in.end) return 0;
    auto const first = word(in.begin), last = word(in.end - 1);
    auto const from = ~std::uint64_t{0} << (in.begin % 64);
    auto const to = ~std::uint64_t{0} >> (63 - (in.end - 1) % 64);
    if (first == last) return std::popcount(words_[first] & from & to);
    int n = std::popcount(words_[first] & from) + std::popcount(words_[last] & to);
    for (auto w = first + 1; w < last; ++w) n += std::popcount(words_[w]);
    return n;
  }
  bool empty() const noexcept {
    return std::all_of(words_.begin(), words_.end(), [](std::uint64_t w) { return w == 0; });
  }

  // The first member at or after `from`, or `end` if there is none before it.
  int next(int from, int end) const noexcept {
    for (; from < end; from = (from / 64 + 1) * 64)
      if (auto const rest = words_[word(from)] >> (from % 64); rest != 0)
        return std::min(from + std::countr_zero(rest), end);
    return end;
  }

  bool intersects(PositionSet const& o) const noexcept {
    NIGH_DEBUG_ASSERT(size_ == o.size_, "sets of one machine");
    for (std::size_t w = 0; w < words_.size(); ++w)
      if ((words_[w] & o.words_[w]) != 0) return true;
    return false;
  }

  PositionSet& operator&=(PositionSet const& o) noexcept {
    NIGH_DEBUG_ASSERT(size_ == o.size_, "sets of one machine");
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= o.words_[w];
    return *this;
  }
  PositionSet& operator|=(PositionSet const& o) noexcept {
    NIGH_DEBUG_ASSERT(size_ == o.size_, "sets of one machine");
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] |= o.words_[w];
    return *this;
  }
  PositionSet& operator-=(PositionSet const& o) noexcept {
    NIGH_DEBUG_ASSERT(size_ == o.size_, "sets of one machine");
    for (std::size_t w = 0; w < words_.size(); ++w) words_[w] &= ~o.words_[w];
    return *this;
  }
  bool operator==(PositionSet const&) const = default;

 private:
  static std::size_t word(int p) noexcept { return static_cast<std::size_t>(p) / 64; }

  std::vector<std::uint64_t> words_;  // bits from size_ on are 0
  int size_ = 0;
};

}  // namespace nigh::policy
