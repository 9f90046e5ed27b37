// SPDX-License-Identifier: Apache-2.0
#pragma once
// Track: the record of one worker. Only its own thread calls the functions that record; others
// read.
//
// Events that come in crowds are merged: failed search rounds in a row, or serialized tasks in a
// row, make one event with a count. So they neither drive the rare events out of the ring nor cost
// a look at the clock each. The merged event enters the ring with the next event of another kind.
//
// (track.M) The worker's own thread makes the ring at its first event, so that its memory is near
//     and costs nothing where nobody works; a reader that sees the ring sees it made.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

#include "trace/counters.hpp"
#include "trace/event_ring.hpp"

namespace nigh::trace {

inline std::int64_t steady_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Sums over the whole run, also of events that the ring has lost.
struct TrackTotals {
  std::array<Counter, level_count> steals;  // [level]
  Counter stolen;                           // tasks
  Counter failed;                           // rounds of a search
  Counter parks;                            // including one that has not ended
  Counter busy_ns;                          // see Track::busy_ns()
};

class alignas(64) Track {
 public:
  using Clock = std::int64_t (*)() noexcept;

  explicit Track(std::size_t capacity, Clock clock = steady_ns) noexcept
      : clock_(clock), capacity_(capacity) {}
  ~Track() { delete ring_.load(sync::relaxed); }
  Track(Track&&) = delete;
  Track& operator=(Track&&) = delete;

  // Around a task that came from elsewhere. Tasks may nest: a worker that waits runs others.
  // `home`: the domain it was put near, if any.
  void task_begin(int home = -1, std::uint64_t bytes = 0) noexcept {
    Event e = turn(EventKind::task_begin, depth_ + 1, false, false);
    e.victim = static_cast<std::uint16_t>(home + 1);
    e.count = narrowed((bytes + 1023) / 1024);
    push(e);
  }
  void task_end() noexcept { turn(EventKind::task_end, depth_ - 1, false); }

  void stole(int victim, level where, std::size_t tasks) noexcept {
    totals_.steals[static_cast<std::size_t>(where)].add(1);
    totals_.stolen.add(tasks);
    Event e = turn(EventKind::steal, depth_, false, false);
    e.where = where;
    e.victim = static_cast<std::uint16_t>(victim);
    e.count = narrowed(tasks);
    push(e);
  }

  // After each round that asked all victims and found nothing.
  void search_failed() noexcept {
    totals_.failed.add(1);
    merge(EventKind::failed_search, true);
  }
  void resumed() noexcept {
    if (idle_) turn(EventKind::resume, depth_, false);
  }

  void serialized() noexcept { merge(EventKind::serialized, false); }

  // Before it sleeps; and after, or when news kept it awake.
  void parked() noexcept {
    totals_.parks.add(1);
    turn(EventKind::park, depth_, true);
  }
  void unparked(bool slept) noexcept {
    if (!slept) totals_.parks.add(~std::uint64_t{0});  // takes it back
    turn(EventKind::unpark, depth_, true);
  }

  void all_done() noexcept { turn(EventKind::all_done, depth_, idle_); }

  // At each fork: this many slots of its stack are taken.
  void forked(std::size_t height) noexcept { low_ = std::min(low_, height); }

  void queue_length(std::size_t tasks) noexcept {
    flush();
    auto const now = clock_();
    push({now, EventKind::queue_length, level::cpu, 0, narrowed(tasks)});
    push_low(now);
  }

  // At the end of the worker: what is still being merged.
  void flush() noexcept {
    if (merging_.count > 0) push(merging_);
    merging_.count = 0;
  }

  EventRing::Contents events() const {
    auto const* const ring = ring_.load(sync::acquire);  // (track.M)
    return ring == nullptr ? EventRing::Contents{} : ring->read();
  }
  TrackTotals const& totals() const noexcept { return totals_; }
  // Time inside tasks, without the searching and sleeping there. Approximate while the worker is at
  // work.
  std::uint64_t busy_ns() const noexcept {
    auto const since = busy_since_.load(sync::relaxed);
    auto const running = since == not_busy ? 0 : std::max<std::int64_t>(clock_() - since, 0);
    return totals_.busy_ns.get() + static_cast<std::uint64_t>(running);
  }

 private:
  static constexpr std::int64_t not_busy = -1;
  static constexpr std::size_t no_fork = std::numeric_limits<std::size_t>::max();
  static constexpr std::uint32_t most_merged = 4096;  // so that long crowds leave several marks

  static std::uint32_t narrowed(std::size_t n) noexcept {
    return static_cast<std::uint32_t>(
        std::min<std::size_t>(n, std::numeric_limits<std::uint32_t>::max()));
  }

  void push(Event const& e) noexcept {
    auto* ring = ring_.load(sync::relaxed);
    if (ring == nullptr) {
      ring = make_ring();
      if (ring == nullptr) return;
      ring_.store(ring, sync::release);  // (track.M)
    }
    ring->push(e);
  }
  EventRing* make_ring() const noexcept try {
    return new EventRing(capacity_);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }

  // The worker's new state, and the event that says so.
  Event turn(EventKind kind, int depth, bool idle, bool pushed = true) noexcept {
    flush();
    auto const now = clock_();
    if (auto const since = busy_since_.load(sync::relaxed); since != not_busy)
      totals_.busy_ns.add(static_cast<std::uint64_t>(now - since));
    push_low(now);
    depth_ = depth;
    idle_ = idle;
    busy_since_.store(depth > 0 && !idle ? now : not_busy, sync::relaxed);
    Event const e{now, kind, level::cpu, 0, 0};
    if (pushed) push(e);
    return e;
  }

  void push_low(std::int64_t now) noexcept {
    if (low_ == no_fork) return;
    push({now, EventKind::low_water, level::cpu, 0, narrowed(low_)});
    low_ = no_fork;
  }

  void merge(EventKind kind, bool idle) noexcept {
    if (merging_.count == 0 || merging_.kind != kind || merging_.count >= most_merged)
      merging_ = turn(kind, depth_, idle, false);
    ++merging_.count;
  }

  Clock const clock_;
  std::size_t const capacity_;
  sync::atomic<EventRing*> ring_{nullptr};
  TrackTotals totals_;
  Event merging_{};  // none while its count is 0
  sync::atomic<std::int64_t> busy_since_{not_busy};
  std::size_t low_ = no_fork;  // lowest height since the last low_water
  int depth_ = 0;              // tasks begun and not ended
  bool idle_ = false;          // searching or asleep
};

}  // namespace nigh::trace
