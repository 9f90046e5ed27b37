// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often something may be done: so many times at once, and so many a second from then on.

#include <algorithm>
#include <cstdint>

namespace nigh::policy {

struct Rate {
  std::int64_t a_second = 0;
  std::int64_t at_once = 0;
};

class TokenBucket {
 public:
  // `now` in microseconds since any moment; never goes back.
  constexpr bool may_take(std::int64_t now, Rate rate) const noexcept {
    return tokens_at(now, rate) >= one;
  }
  // Even when there is none: the debt is paid first.
  constexpr void take(std::int64_t now, Rate rate, std::int64_t tokens = 1) noexcept {
    millionths_ = tokens_at(now, rate) - tokens * one;
    since_ = now;
    is_new_ = false;
  }
  // The bucket is as good as a new one.
  constexpr bool is_full(std::int64_t now, Rate rate) const noexcept {
    return tokens_at(now, rate) == rate.at_once * one;
  }
  // The time from which one may be taken again.
  constexpr std::int64_t ready_at(std::int64_t now, Rate rate) const noexcept {
    auto const lacking = one - tokens_at(now, rate);
    if (lacking <= 0) return now;
    return now + (lacking + rate.a_second - 1) / rate.a_second;
  }

 private:
  static constexpr std::int64_t one = 1'000'000;
  constexpr std::int64_t tokens_at(std::int64_t now, Rate rate) const noexcept {
    auto const most = rate.at_once * one;
    if (is_new_) return most;
    // After the time that fills any bucket, waiting longer adds nothing: no product gets too large.
    auto const passed = std::min<std::int64_t>(now - since_, 1'000'000'000);
    return std::min(most, millionths_ + passed * rate.a_second);
  }
  std::int64_t millionths_ = 0;
  std::int64_t since_ = 0;
  bool is_new_ = true;
};

namespace detail {
constexpr int taken_within(std::int64_t us, Rate rate) noexcept {
  TokenBucket bucket;
  int taken = 0;
  for (std::int64_t now = 0; now <= us; now = std::max(now, bucket.ready_at(now, rate)))
    for (; bucket.may_take(now, rate); ++taken) bucket.take(now, rate);
  return taken;
}
}  // namespace detail
static_assert(detail::taken_within(0, {1'000, 5}) == 5);
static_assert(detail::taken_within(10'000, {1'000, 5}) == 15);
static_assert(TokenBucket{}.ready_at(7, {1'000, 1}) == 7);

}  // namespace nigh::policy
