// SPDX-License-Identifier: Apache-2.0
#pragma once
// Idle: how long does a worker without a task look for one before it sleeps, and how far does it
// look?

#include <cstdint>

namespace nigh::policy {

struct IdlePolicy {
  int rounds_lingering =
      2;  // patient looks at one's own domain before a worker counts as searching
  int rounds_in_own_domain =
      8;                     // of these, looks at one's own domain only: tasks for it may just be
                             // on their way, and one taken from another domain is remote for good
  int looks_at_thief = 100;  // who waits in a join looks at its thief so often, for about 3 us,
                             // before it searches as others do
  // Pauses of the processor in a round, 40 to 60 ns each:
  int pauses_lingering = 16, pauses_searching = 4;
  int rounds_per_clock_reading = 8;
  // By the clock, since the worker ran out of tasks:
  int spin_us = 20;     // looks follow each other closely, the answer to work that comes at once
  int awake_us = 1000;  // then the cpu is yielded between looks; from here on the worker sleeps
  int awake_us_after_idle_wake = 50;  // instead, when it was woken and has found nothing since: it
                                      // may be woken again and again by work that others take first
};

// What a worker does between two looks, `idle_us` after it ran out of tasks or was woken.
enum class Rest : std::uint8_t { pause, yield, sleep };

constexpr Rest rest(std::int64_t idle_us, bool woken_in_vain, IdlePolicy p) noexcept {
  if (idle_us >= (woken_in_vain ? p.awake_us_after_idle_wake : p.awake_us)) return Rest::sleep;
  return idle_us < p.spin_us ? Rest::pause : Rest::yield;
}
static_assert(rest(19, false, {}) == Rest::pause && rest(20, false, {}) == Rest::yield);
static_assert(rest(50, false, {}) == Rest::yield && rest(50, true, {}) == Rest::sleep);

// May it look beyond its own domain yet?
constexpr bool looks_abroad(int failed_rounds, IdlePolicy p) noexcept {
  return failed_rounds >= p.rounds_in_own_domain;
}

}  // namespace nigh::policy
