// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rest of a span of a loop (policy/loops/loop_schedule.hpp): one word that its owner
// shortens at the front, and helpers at the back.
//
// (span.X) Each unit is taken once. The word says all there is to know: every change is one
//     compare-exchange from the value that the change was decided on, so of two takers of one unit,
//     one fails. A value that comes back means that the same units are there again (a helper
//     brought them back before anybody ran them), so a late compare-exchange takes what is there.
//
// These operations need no order. All who take part know what the units stand for since they took
// their ticket, that is, stole its task. That all have been run is known when the tickets have been
// joined, not from here.

#include <cstdint>

#include "base/atomic.hpp"
#include "policy/loops/loop_schedule.hpp"

namespace nigh::loops {

using policy::Units;

// Another word in tests: one whose compare-exchange is none.
template <class Word>
class alignas(64) SpanOf {
 public:
  explicit SpanOf(Units units) noexcept : word_(pack(units)) {}

  Units left() const noexcept { return unpack(word_.load(sync::relaxed)); }

  // how_many(left), from 1 to left, of at least one unit. Empty: there is nothing.
  template <class HowMany>
  Units take_front(HowMany how_many) noexcept {
    return take([&](Units all) { return all.begin + how_many(all.count()); },
                [](Units all, std::uint32_t cut) { return Units{cut, all.end}; },
                [](Units all, std::uint32_t cut) { return Units{all.begin, cut}; });
  }
  template <class HowMany>
  Units take_back(HowMany how_many) noexcept {
    return take([&](Units all) { return all.end - how_many(all.count()); },
                [](Units all, std::uint32_t cut) { return Units{all.begin, cut}; },
                [](Units all, std::uint32_t cut) { return Units{cut, all.end}; });
  }

  // False when there is something already: several threads may act for one worker.
  bool put(Units units) noexcept {
    auto word = word_.load(sync::relaxed);
    return unpack(word).empty() &&
           word_.compare_exchange_strong(word, pack(units), sync::relaxed);  // (span.X)
  }

 private:
  static std::uint64_t pack(Units u) noexcept { return u.begin | std::uint64_t{u.end} << 32; }
  static Units unpack(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
  }

  template <class Cut, class Keep, class Take>
  Units take(Cut cut, Keep keep, Take give) noexcept {
    for (auto word = word_.load(sync::relaxed);;) {
      Units const all = unpack(word);
      if (all.empty()) return {};
      auto const at = cut(all);
      if (word_.compare_exchange_strong(word, pack(keep(all, at)), sync::relaxed))  // (span.X)
        return give(all, at);
    }
  }

  Word word_;
};

using Span = SpanOf<sync::atomic<std::uint64_t>>;

}  // namespace nigh::loops
