// SPDX-License-Identifier: Apache-2.0
#pragma once
// Attention: how long may a rank leave messages unread while its workers have tasks, and when does
// a rank that waits for it ring?
//
// Workers look for messages between two tasks. A thread of its own, the lookout, does the rest. Its
// wakes are not cheap: each takes a worker's cpu away for some 20 us on a virtual machine. So it
// sleeps long where it is not needed: where others can wake it, or where workers have looked often
// enough of late, as they do while their tasks are short.
//
//   short ──sleeps_before_long in a row with workers looking──▶ long
//     ▲                                                          │
//     └──────────── a sleep at whose end nobody had ─────────────┘

#include <algorithm>
#include <cstdint>

namespace nigh::policy {

struct LookoutPolicy {
  std::int64_t brief_ns = 20'000;
  std::int64_t short_ns = 130'000;  // with looks_after_ns and the time to wake: 200 us at most
  std::int64_t long_ns = 1'000'000;
  std::int64_t looks_after_ns = 50'000;  // the lookout looks itself, if no worker has for this long
  int sleeps_before_long = 4;
};

// The lookout's view of its rank.
struct Surroundings {
  bool all_can_ring = false;   // every rank that may want something of this one
  bool is_hungry = false;      // some worker is without work
  bool expects_tasks = false;  // it has asked for some
  bool is_moving = false;      // the network moves data, which goes on when a thread looks
  bool looks_alone = false;    // no worker has looked since the lookout did
  int attended = 0;            // sleeps in a row with workers looking
  bool is_spare = false;       // it asks for no tasks
};

constexpr std::int64_t sleep_ns(Surroundings const& s, LookoutPolicy const& p) noexcept {
  bool const is_attended = s.attended >= p.sleeps_before_long;
  if (s.is_spare && !s.is_moving) return p.long_ns;
  if (!s.is_moving && ((s.all_can_ring && !s.is_hungry) || is_attended)) return p.long_ns;
  return s.is_hungry && s.looks_alone && s.expects_tasks ? p.brief_ns : p.short_ns;
}

// At the end of a sleep: does the lookout look itself, and had workers looked often enough?
// `since_ns`: since any thread has.
constexpr bool looks_itself(bool looks_alone, std::int64_t since_ns,
                            LookoutPolicy const& p) noexcept {
  return looks_alone || since_ns >= p.looks_after_ns;
}
constexpr bool was_attended(bool looks_alone, std::int64_t since_ns,
                            LookoutPolicy const& p) noexcept {
  return !looks_alone && since_ns < p.short_ns;
}
// A run may begin with a long task, whatever the last run had: the first sleep is short.
constexpr int attended_before_run(int in_last_run, LookoutPolicy const& p) noexcept {
  return std::min(in_last_run, p.sleeps_before_long - 1);
}
static_assert(looks_itself(false, 50'000, {}) && was_attended(false, 50'000, {}));

// A thief that waits for a rank on its host rings when that rank has not looked for a while, and
// has work itself. Each ring costs that rank the time in which a thread wakes and sleeps again.
struct RingPolicy {
  std::int64_t after_ns = 60'000;
  std::int64_t again_after_ns = 150'000;
};

constexpr bool rings(bool has_looked, bool is_hungry) noexcept { return !has_looked && !is_hungry; }
constexpr std::int64_t next_ring_in_ns(bool has_looked, RingPolicy const& p) noexcept {
  return has_looked ? p.after_ns : p.again_after_ns;
}

}  // namespace nigh::policy
