// SPDX-License-Identifier: Apache-2.0
#pragma once
// Idle: how long does a worker without a task look for one before it sleeps, and how far does it
// look?

#include <algorithm>
#include <cstdint>

namespace nigh::policy {

struct IdlePolicy {
  // Patient rounds before a worker counts as searching: one look at its own queue in each, and
  // pauses_lingering looks at all stacks.
  int rounds_lingering = 2;
  // Then so many searching rounds without the queues of other groups: tasks for its own may be on
  // their way, and one taken from another domain is remote for good. Stacks of all domains are
  // looked at in every round.
  int rounds_in_own_domain = 8;
  // A thread that waits for what another one is at work on first looks so often whether that has
  // come, and in a join at its thief, for a few us. It begins nothing else meanwhile.
  int looks_first = 100;
  // Pauses of the processor in a round, 40 to 60 ns each:
  int pauses_lingering = 16, pauses_searching = 4;
  int rounds_per_clock_reading = 8;
  // By the clock, since the worker ran out of tasks: first looks follow each other closely, then it
  // yields its cpu between looks, then it sleeps.
  int spin_us = 20;
  // From then on it shares the tasks of others who have not answered; then after twice that time,
  // and so on, because a look at their stacks costs them cache lines.
  int shares_for_others_us = 100;
  // So long does it stay awake where work comes soon: its last wait of more than brief_us ended
  // within that time.
  int awake_us = 1000;
  // Else only so long. Likewise when it was woken and has found nothing since: work that others take
  // first may wake it again and again.
  int brief_us = 50;
  // A worker that sleeps because an external thread computes in its place looks so often whether
  // that one still gets on.
  int displaced_look_ms = 100;
  // An external thread that waits runs queued tasks itself where the worker beside it is in another
  // runtime, and nobody else has come for them for so long: all may wait there for what it waits
  // for. Otherwise it looks so often whether that is so.
  int queued_tasks_left_ms = 5;
  int external_look_ms = 50;
};

// How does a worker rest between two looks, `idle_us` after it ran out of tasks or was woken?
enum class Rest : std::uint8_t { pause, yield, sleep };
enum class Patience : std::uint8_t { little, much };

constexpr Rest rest(std::int64_t idle_us, Patience patience, IdlePolicy p) noexcept {
  if (idle_us >= (patience == Patience::little ? p.brief_us : p.awake_us)) return Rest::sleep;
  return idle_us < p.spin_us ? Rest::pause : Rest::yield;
}
static_assert(rest(19, Patience::much, {}) == Rest::pause);
static_assert(rest(20, Patience::much, {}) == Rest::yield);
static_assert(rest(50, Patience::much, {}) == Rest::yield);
static_assert(rest(50, Patience::little, {}) == Rest::sleep);

// How long has a worker waited, and so how long will it stay awake the next time?
class Waits {
 public:
  // It has got a task `idle_us` after it ran out.
  constexpr void ended_after(std::int64_t idle_us, IdlePolicy p) noexcept {
    if (idle_us >= p.brief_us) come_soon_ = idle_us < p.awake_us;
  }
  constexpr void woken() noexcept { in_vain_ = true; }
  constexpr void runs_task() noexcept { in_vain_ = false; }
  // `joins`: it waits for tasks that others are at work on, which is no sign of idleness.
  constexpr Patience patience(bool joins) const noexcept {
    return !in_vain_ && (joins || come_soon_) ? Patience::much : Patience::little;
  }

 private:
  bool in_vain_ = false;    // it was woken, and has run nothing since
  bool come_soon_ = false;  // its last wait of more than brief_us was shorter than awake_us
};

// May it look at the queues of other groups yet?
constexpr bool looks_abroad(int failed_rounds, IdlePolicy p) noexcept {
  return failed_rounds >= p.rounds_in_own_domain;
}

// SearchPause: how long does a thief rest after a round of attempts on other hosts that brought
// nothing?
//
// Asking another host keeps both interfaces busy, so that unlucky thieves slow down the ranks that
// have work to give. Rests double from round to round up to a limit, which bounds how late new work
// is noticed; there is none before the first round has failed.

struct SearchPause {
  std::int64_t first_ns = 0;  // 0: no rests at all
  std::int64_t most_ns = 0;
};

constexpr std::int64_t search_pause_ns(int failed_rounds, SearchPause p) noexcept {
  if (failed_rounds <= 0 || p.first_ns <= 0) return 0;
  int const doublings = std::min(failed_rounds - 1, 30);
  return p.first_ns >= p.most_ns >> doublings ? p.most_ns : p.first_ns << doublings;
}
static_assert(search_pause_ns(0, {1000, 8000}) == 0 && search_pause_ns(1, {1000, 8000}) == 1000);
static_assert(search_pause_ns(3, {1000, 8000}) == 4000 && search_pause_ns(9, {1000, 8000}) == 8000);
static_assert(search_pause_ns(5, {}) == 0);

}  // namespace nigh::policy
