// SPDX-License-Identifier: Apache-2.0
#pragma once
// Idle: how long does a worker without a task look for one before it sleeps, and how far does it
// look?
//
//   active --no task--> searching --rounds_awake failed--> sleepy --no news--> parked
//     ^------ task -------'  ^------------- news -------------'                  |
//     '-------------------------------- unpark ----------------------------------'

#include <cstdint>

namespace nigh::policy {

enum class Idle : std::uint8_t { active, searching, sleepy, parked };

struct IdlePolicy {
  int rounds_lingering =
      2;                   // patient looks at one's own domain before a worker counts as searching
  int rounds_awake = 64;   // failed looks at all queues before sleeping: about 20 us, longer than
                           // the wake-up it may save (a futex wake costs 9 to 15 us)
  int rounds_at_home = 8;  // of these, looks at one's own domain only: tasks for it may just be
                           // on their way, and one taken from another domain is remote for good
  // By the clock, since the worker ran out of tasks:
  int spin_us = 20;     // looks follow each other closely, the answer to work that comes at once
  int awake_us = 1000;  // then the cpu is yielded between looks; from here on the worker sleeps
  int awake_us_after_idle_wake = 50;  // instead, when it was woken and has found nothing since: it
                                      // may be woken again and again by work that others take first
};

// What a worker that has just looked in vain does next. A sleepy worker has announced itself, and
// `news` is whether work has turned up since.
constexpr Idle next(Idle now, int failed_rounds, bool news, IdlePolicy p) noexcept {
  if (now == Idle::sleepy) return news ? Idle::searching : Idle::parked;
  return failed_rounds < p.rounds_awake ? Idle::searching : Idle::sleepy;
}
static_assert(next(Idle::sleepy, 65, true, {}) == Idle::searching);
static_assert(next(Idle::sleepy, 65, false, {}) == Idle::parked);

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
  return failed_rounds >= p.rounds_at_home;
}

}  // namespace nigh::policy
