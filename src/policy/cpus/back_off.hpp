// SPDX-License-Identifier: Apache-2.0
#pragma once
// BackOff: a program that keeps cpus for which others wait, until they are taken away, stands
// behind the others for a while: twice as long each time, and never for good.

#include <algorithm>
#include <cstdint>

namespace nigh::policy {

struct BackOffPolicy {
  std::int64_t first_us = 200'000;
  std::int64_t longest_us = 10'000'000;
  std::int64_t forgive_us = 10'000'000;  // after so long, one time is forgotten
};

class BackOff {
 public:
  constexpr void strike(std::int64_t now, BackOffPolicy p) noexcept {
    strikes_ = std::min(most_strikes, strikes_at(now, p) + 1);
    since_ = now;
    until_ = now + std::min(p.longest_us, p.first_us << (strikes_ - 1));
  }
  constexpr bool is_on(std::int64_t now) const noexcept { return strikes_ > 0 && now < until_; }
  constexpr std::int64_t until() const noexcept { return until_; }

 private:
  static constexpr int most_strikes = 16;
  constexpr int strikes_at(std::int64_t now, BackOffPolicy p) const noexcept {
    if (strikes_ == 0 || p.forgive_us <= 0) return 0;
    auto const forgotten = std::min<std::int64_t>(strikes_, (now - since_) / p.forgive_us);
    return strikes_ - static_cast<int>(forgotten);
  }
  int strikes_ = 0;
  std::int64_t since_ = 0;
  std::int64_t until_ = 0;
};

namespace detail {
constexpr BackOffPolicy short_back_off{.first_us = 10, .longest_us = 35, .forgive_us = 1'000};
// The time at which it is over, if it was struck so many times at time 0.
constexpr std::int64_t back_off_after(int strikes) noexcept {
  BackOff b;
  for (int i = 0; i < strikes; ++i) b.strike(0, short_back_off);
  std::int64_t now = 0;
  while (b.is_on(now)) ++now;
  return now;
}
// A second strike, so long after the first.
constexpr std::int64_t second_back_off(std::int64_t later) noexcept {
  BackOff b;
  b.strike(0, short_back_off);
  b.strike(later, short_back_off);
  std::int64_t now = later;
  while (b.is_on(now)) ++now;
  return now - later;
}
}  // namespace detail
static_assert(!BackOff{}.is_on(0));
static_assert(detail::back_off_after(1) == 10 && detail::back_off_after(2) == 20);
static_assert(detail::back_off_after(100) == 35, "nobody is locked out for good");
static_assert(detail::second_back_off(999) == 20 && detail::second_back_off(1'000) == 10);

}  // namespace nigh::policy
