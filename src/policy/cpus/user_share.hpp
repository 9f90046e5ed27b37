// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much may one user have while others want some as well: of cpus, of places in a queue, of
// connections?

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nigh::policy {

// Cpus of each of so many users when all have equally many, and of each program of a user.
constexpr int user_part(int cpus, int users) noexcept {
  return std::max(1, cpus / std::max(1, users));
}
constexpr int program_part(int cpus, int users, int programs_of_user) noexcept {
  return std::max(1, user_part(cpus, users) / std::max(1, programs_of_user));
}
static_assert(user_part(8, 1) == 8 && user_part(8, 3) == 2 && user_part(2, 5) == 1);
static_assert(program_part(8, 1, 4) == 2, "one user's programs share all cpus");
static_assert(program_part(8, 2, 100) == 1 && program_part(8, 2, 1) == 4);

// A user that holds its part waits behind users that do not.
constexpr bool has_its_part(int held, int cpus, int users) noexcept {
  return users > 1 && held >= user_part(cpus, users);
}
static_assert(!has_its_part(8, 8, 1), "who is alone may have everything");
static_assert(has_its_part(4, 8, 2) && !has_its_part(3, 8, 2));

// Whether cpus of one user are asked back for another one. A user that lacks some of its part takes
// from a user with more than its own; with more users than cpus, they take turns. Cpus left over
// beyond the parts stay where they are.
constexpr bool may_take(int asker_held, int owner_held, int cpus, int users) noexcept {
  if (has_its_part(asker_held, cpus, users)) return owner_held > asker_held + 1;
  return users > cpus ? owner_held > 0 : owner_held > user_part(cpus, users);
}
static_assert(may_take(0, 8, 8, 2) && may_take(3, 5, 8, 2) && !may_take(4, 4, 8, 2));
static_assert(!may_take(1, 2, 3, 2) && may_take(0, 1, 2, 3) && !may_take(0, 1, 4, 2));

// Whether a user may have one more of a resource with `all` units. It gets at most half of what the
// others leave free, so that something is left for the next user however many take what they can.
// Each user may have `least`, as long as there is any.
struct UserLimit {
  std::size_t all = 0;
  std::size_t least = 0;
};
constexpr bool may_have_one_more(std::size_t own, std::size_t everybodys,
                                 UserLimit limit) noexcept {
  if (everybodys >= limit.all) return false;
  auto const others = everybodys - own;
  return own < std::max(limit.least, (limit.all - others) / 2);
}
namespace detail {
constexpr std::size_t most_of(int greedy_users_before, UserLimit limit) noexcept {
  std::size_t everybodys = 0, own = 0;
  for (int user = 0; user <= greedy_users_before; ++user) {
    own = 0;
    while (may_have_one_more(own, everybodys, limit)) ++own, ++everybodys;
  }
  return own;
}
}  // namespace detail
static_assert(detail::most_of(0, {1024, 8}) == 512 && detail::most_of(1, {1024, 8}) == 256);
static_assert(detail::most_of(4, {1024, 8}) == 32, "four users lock no fifth out");
static_assert(detail::most_of(7, {1024, 8}) == 8, "a few are for each, while there are any");
static_assert(detail::most_of(0, {1, 1}) == 1);

// BackOff: a program that keeps cpus for which others wait, until they are taken away, stands
// behind the others for a while: twice as long each time, and never for good.

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

// How often something may be done: so many times at once, and so many a second from then on.

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
