// SPDX-License-Identifier: Apache-2.0
#pragma once
// Have all tasks run? One shared counter of pending tasks would bounce between all cpus at every
// task. Instead every thread counts what it spawned and what it finished, and a thread that runs
// out of work adds up (counted termination detection: Mattern, "Algorithms for Distributed
// Termination Detection", 1987; one pass suffices because a spawn is counted before its task can be
// taken).
//
// (quiescence.Q) Finished tasks are read first, spawned ones second. A finish that was read makes
//     visible, by its seq_cst store, the spawn of that task and all that the task spawned. So
//     finished-as-read <= spawned-as-read always, and equality means that at the end of the first
//     pass no task was left.
// (quiescence.V) A waiter announces itself, then adds up; a worker publishes, then looks for
//     waiters. All four are seq_cst, so the last finish is either seen by the waiter or followed by
//     a wake-up. The epoch is changed and read in the same order: a waiter that reads a new one, and
//     would sleep on, adds up later than the worker that changed it, and sees as many finishes.

#include <cstdint>

#include "base/atomic.hpp"
#include "base/race_detector.hpp"
#include "platform/futex.hpp"

namespace nigh::tasks {

// Tasks spawned and finished by one thread.
class TaskCount {
 public:
  // Called before other threads can see the task; the task's publication orders this.
  void count_spawned() noexcept { spawned_.store(spawned_.load(sync::relaxed) + 1, sync::relaxed); }

  void count_finished() noexcept { ++finished_; }
  bool has_news() const noexcept { return finished_ != published_.load(sync::relaxed); }
  void publish() noexcept {
    base::announce_release(&published_);
    published_.store(finished_, sync::seq_cst);  // (quiescence.Q) (quiescence.V)
  }

  std::uint64_t spawned_so_far() const noexcept { return spawned_.load(sync::relaxed); }
  std::uint64_t finished_so_far() const noexcept {
    auto const n = published_.load(sync::seq_cst);  // (quiescence.Q) (quiescence.V)
    base::announce_acquire(&published_);
    return n;
  }

 private:
  sync::atomic<std::uint64_t> spawned_{0};
  std::uint64_t finished_ = 0;
  sync::atomic<std::uint64_t> published_{0};
};

// The same for all other threads together; they spawn rarely enough to share it.
class SharedTaskCount {
 public:
  void count_spawned() noexcept { spawned_.fetch_add(1, sync::relaxed); }
  void count_finished() noexcept {
    base::announce_release(&finished_);
    finished_.fetch_add(1, sync::seq_cst);  // (quiescence.Q) (quiescence.V)
  }

  std::uint64_t spawned_so_far() const noexcept { return spawned_.load(sync::relaxed); }
  std::uint64_t finished_so_far() const noexcept {
    auto const n = finished_.load(sync::seq_cst);  // (quiescence.Q) (quiescence.V)
    base::announce_acquire(&finished_);
    return n;
  }

 private:
  sync::atomic<std::uint64_t> spawned_{0};
  sync::atomic<std::uint64_t> finished_{0};
};

// Threads that wait until all is done. `done` adds up all TaskCounts.
class Quiescence {
 public:
  template <class Done>
  void wait(Done done) noexcept {
    waiters_.fetch_add(1, sync::seq_cst);  // (quiescence.V)
    for (;;) {
      auto const epoch = epoch_.load(sync::seq_cst);  // (quiescence.V)
      if (done()) break;
      platform::futex_wait(epoch_, epoch);
    }
    waiters_.fetch_sub(1, sync::relaxed);
  }

  // After publish(): wakes the waiters if this was the last task.
  template <class Done>
  void tell_if_done(Done done) noexcept {
    if (waiters_.load(sync::seq_cst) == 0 || !done()) return;  // (quiescence.V)
    epoch_.fetch_add(1, sync::seq_cst);  // (quiescence.V)
    platform::futex_wake_all(epoch_);
  }

 private:
  sync::atomic<std::uint32_t> waiters_{0};
  sync::atomic<std::uint32_t> epoch_{0};
};

}  // namespace nigh::tasks
