// SPDX-License-Identifier: Apache-2.0
#pragma once
// A record of what team threads do with their tasks, for `nigh trace`: sums, a time line, and the
// code of the tasks. The file is written when the program ends; docs/trace.md has its format.
//
// Without NIGH_TRACE a member has no Track, and a task costs a look at the pointer.

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <nigh/topology.hpp>

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

// A thread waits outside of regions, runs its own part of one, looks for tasks, sleeps, or
// runs a task of some code, from `first_task` on.
using Activity = std::uint32_t;
inline constexpr Activity outside = 0, own_part = 1, searching = 2, asleep = 3, other_tasks = 4,
                          first_task = 5;

enum class TraceEvent : std::uint8_t { none, region, task, search, sleep, end, steal };

struct Traced {
  TraceEvent kind;
  std::uint8_t from;     // steal: the smallest level that holds both threads
  std::uint16_t victim;  // steal: its number in the team
  std::uint32_t what;    // task: its Activity; steal: how many; search: rounds
};

// Of one thread, which alone changes it. It is read when the program ends, and another thread may
// run on then: so all that is read is atomic.
class Track {
 public:
  static constexpr std::size_t capacity = 65'536;  // events: the newest are kept
  static constexpr std::size_t activities = 256;

  struct Sum {
    sync::atomic<void const*> code{nullptr};
    sync::atomic<std::uint64_t> times{0};
    sync::atomic<std::uint64_t> ns{0};  // without what began in it
  };

  explicit Track(bool is_nested) noexcept : is_nested_(is_nested) {}

  // `around`: of the region around this one, or null.
  void begin_region(Track* around) noexcept;
  void end_region(Track* around) noexcept;
  // Returns what end_task() goes on with. Only tasks that another thread has made are on the time
  // line: there may be millions of others.
  Activity begin_task(void const* code, bool is_anothers) noexcept;
  void end_task(Activity before, bool is_anothers) noexcept;
  void stole(std::uint32_t victim, level from, std::uint32_t tasks) noexcept;

  Activity now() const noexcept { return now_.load(sync::relaxed); }
  void search() noexcept;
  void sleep() noexcept;
  void end_wait(Activity before) noexcept;

  // ---- when the program ends, which may be while the thread runs on

  bool is_nested() const noexcept { return is_nested_; }
  // Until then: what the thread is at counts. If it turns to something else at this moment, that
  // one span may count twice, or not at all.
  std::uint64_t ns(Activity a, std::int64_t until) const noexcept;
  Sum const& sum(Activity a) const noexcept { return sums_[a]; }
  std::uint64_t failed_rounds() const noexcept {
    return sums_[searching].times.load(sync::relaxed);
  }
  std::uint64_t visits(std::size_t from) const noexcept {
    return visits_[from].load(sync::relaxed);
  }
  std::uint64_t events() const noexcept { return events_.load(sync::relaxed); }
  Traced event(std::uint64_t n, std::int64_t& time_ns) const noexcept;
  void forget() noexcept;  // in a child of fork()

 private:
  struct Slot {
    sync::atomic<std::int64_t> time{0};
    sync::atomic<Traced> event{Traced{}};
  };

  Activity activity_of(void const* code) noexcept;
  Activity turn_to(Activity next) noexcept;
  void add(Traced event) noexcept;

  bool const is_nested_;
  sync::atomic<Activity> now_{outside};
  Activity interrupted_ = outside;  // by a region inside
  sync::atomic<std::int64_t> since_{base::now_ns()};
  std::array<Sum, activities> sums_{};
  std::array<sync::atomic<std::uint64_t>, static_cast<std::size_t>(level::host) + 1> visits_{};
  sync::atomic<std::uint64_t> events_{0};
  std::array<Slot, capacity> ring_{};
};

// A search for tasks, and what it interrupts. `track` may be null.
class TracedWait {
 public:
  explicit TracedWait(Track* track) noexcept
      : track_(track), before_(track != nullptr ? track->now() : outside) {}
  ~TracedWait() { found(); }
  TracedWait(TracedWait&&) = delete;
  TracedWait& operator=(TracedWait&&) = delete;

  void search() noexcept {
    if (track_ != nullptr) [[unlikely]]
      track_->search();
  }
  void sleep() noexcept {
    if (track_ != nullptr) [[unlikely]]
      track_->sleep();
  }
  void found() noexcept {
    if (track_ != nullptr) [[unlikely]]
      track_->end_wait(before_);
  }

 private:
  Track* track_;
  Activity before_;
};

struct TracedProcess {
  char const* file = nullptr;  // null: no trace is wanted
  std::int64_t zero_ns = 0;
  pid_t first_process = 0;  // of the file's name; children of fork() have another
};
NIGH_HIDDEN extern constinit TracedProcess traced;

NIGH_HIDDEN void begin_trace() noexcept;                // when the process begins
NIGH_HIDDEN void trace_child() noexcept;                // after fork()
NIGH_HIDDEN Track* new_track(bool is_nested) noexcept;  // null: no trace is wanted, or no memory
NIGH_HIDDEN void forget_writing() noexcept;             // after fork(), too
NIGH_HIDDEN void write_trace() noexcept;                // when the process ends; once
// Of members alive and gone, newest first (members.cpp).
NIGH_HIDDEN void for_each_track(void (*see)(Track&, void* with), void* with) noexcept;

}  // namespace nigh::openmp::tasks
