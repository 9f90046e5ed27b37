// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long does a region wait for cpus of its own, and how long may others keep theirs meanwhile?
//
// A region that waits may be what another one, inside it, waits for: through memory, a pipe, a
// message. So no region waits for long; it runs on shared cpus instead, as without a coordinator. A
// wait that ends with cpus is well spent: cpus of one's own are worth more than shared ones. A wait
// in vain is time lost. Each thread has a budget for those, and waits for half of what is left of
// it, so that it does not lose as much at each region beside a long one. With an empty budget it
// only looks whether there are cpus.

#include <algorithm>
#include <cstdint>

namespace nigh::policy {

struct LeasePatiencePolicy {
  std::int64_t longest_us = 100'000;   // at one region
  std::int64_t at_start_us = 200'000;  // of the budget
  std::int64_t most_us = 400'000;      // that it grows to
  int percent = 1;                   // of the time that passes: the budget grows by this part of it
  std::int64_t shortest_us = 1'000;  // anything shorter is a look
  // when looks are in vain: a look takes as long as short regions
  std::int64_t look_every_us = 5'000;
};

class LeasePatience {
 public:
  using Time = std::int64_t;  // microseconds
  static constexpr Time look = 1, not_now = 0;

  constexpr explicit LeasePatience(LeasePatiencePolicy policy = {}) noexcept
      : policy_(policy), left_(policy.at_start_us) {}

  // How long to wait at a region that begins now.
  constexpr Time at(Time now) const noexcept {
    Time const wait = std::min(policy_.longest_us, left(now) / 2);
    if (wait >= policy_.shortest_us) return wait;
    return now < next_look_ ? not_now : look;
  }
  // The region has waited for so long, and got nothing.
  constexpr void spend(Time wait, Time now) noexcept {
    left_ = std::max<Time>(0, left(now) - wait);
    since_ = now;
    next_look_ = now + policy_.look_every_us;
  }

 private:
  constexpr Time left(Time now) const noexcept {
    if (since_ == never) return left_;
    return std::min(policy_.most_us, left_ + (now - since_) * policy_.percent / 100);
  }
  static constexpr Time never = -1;

  LeasePatiencePolicy policy_;
  Time left_;
  Time since_ = never;
  Time next_look_ = 0;
};

namespace detail {
// The total that regions beginning right after each other wait in vain.
constexpr LeasePatience::Time waits_in_vain(int regions) noexcept {
  LeasePatience patience;
  LeasePatience::Time now = 0, waited = 0;
  for (int i = 0; i < regions; ++i) {
    auto const wait = patience.at(now);
    if (wait == LeasePatience::not_now) continue;
    now += wait;
    waited += wait;
    patience.spend(wait, now);
  }
  return waited;
}
// How long a region may still wait, so long after one that used up its whole wait.
constexpr LeasePatience::Time patience_after(LeasePatience::Time us) noexcept {
  LeasePatience patience;
  patience.spend(1'000'000, 0);
  return patience.at(us);
}
}  // namespace detail
static_assert(LeasePatience{}.at(0) == 100'000);
static_assert(detail::waits_in_vain(1) == 100'000 && detail::waits_in_vain(2) < 151'000);
static_assert(detail::waits_in_vain(1000) < 205'000, "a program of short regions does not stand");
static_assert(detail::patience_after(1'000) == LeasePatience::not_now);
static_assert(detail::patience_after(5'000) == LeasePatience::look);
static_assert(detail::patience_after(1'000'000) == 5'000);
static_assert(detail::patience_after(3'600'000'000) == 100'000);

// A runtime, or a region of tasks, may work for as long as its program. Without cpus of its own it
// asks again so often. Where no coordinator answers, its connection asks ever more rarely.
inline constexpr std::int64_t ask_again_us = 100'000;

// For how long a lease stays its program's while so many programs compete and do not wait for ever.
// Each should get cpus within its patience; but with very short slices, the caches would always be
// full of others' data.
struct TurnPolicy {
  std::int64_t usual_us = 50'000;
  std::int64_t round_us = 100'000;
  std::int64_t shortest_us = 5'000;
};
constexpr std::int64_t turn_us(int competing, TurnPolicy p) noexcept {
  auto const part = std::max(p.shortest_us, p.round_us / std::max(1, competing));
  return std::min(p.usual_us, part);
}
static_assert(turn_us(0, {}) == 50'000 && turn_us(2, {}) == 50'000 && turn_us(4, {}) == 25'000);
static_assert(turn_us(1000, {}) == 5'000);
static_assert(turn_us(4, {.usual_us = 1'000}) == 1'000);

}  // namespace nigh::policy
