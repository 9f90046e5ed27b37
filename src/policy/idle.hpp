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
};

// What a worker that has just looked in vain does next. A sleepy worker has announced itself, and
// `news` is whether work has turned up since.
constexpr Idle next(Idle now, int failed_rounds, bool news, IdlePolicy p) noexcept {
  if (now == Idle::sleepy) return news ? Idle::searching : Idle::parked;
  return failed_rounds < p.rounds_awake ? Idle::searching : Idle::sleepy;
}
static_assert(next(Idle::sleepy, 65, true, {}) == Idle::searching);
static_assert(next(Idle::sleepy, 65, false, {}) == Idle::parked);

// May it look beyond its own domain yet?
constexpr bool looks_abroad(int failed_rounds, IdlePolicy p) noexcept {
  return failed_rounds >= p.rounds_at_home;
}

}  // namespace nigh::policy
