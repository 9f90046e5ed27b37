// SPDX-License-Identifier: Apache-2.0
#pragma once
// Have all tasks of a task queue finished? Every thread counts what it put and what it finished; a
// thread that asks adds up.
//
// (put_count.Q) As in (quiescence.Q), finished tasks are read first, those put second. A finish
//     that was read makes visible what the task did, that it was put, and all that it put itself;
//     so as many finished as put means that none is left. No thread sleeps until the answer
//     changes, so release and acquire are enough here.

#include <cstdint>

#include "base/atomic.hpp"
#include "base/race_detector.hpp"
#include "trace/counters.hpp"

namespace nigh::tasks {

// For one thread.
struct alignas(64) PutCount {
  trace::Counter put, serialized, allocated;
  sync::atomic<std::uint64_t> finished{0};

  void finish() noexcept {
    base::announce_release(&finished);
    finished.store(finished.load(sync::relaxed) + 1, sync::release);  // (put_count.Q)
  }
  std::uint64_t put_so_far() const noexcept { return put.get(); }
  std::uint64_t finished_so_far() const noexcept {
    auto const n = finished.load(sync::acquire);  // (put_count.Q)
    base::announce_acquire(&finished);
    return n;
  }
};

// For all threads without a slot in the runtime together.
struct SharedPutCount {
  sync::atomic<std::uint64_t> put{0}, serialized{0}, finished{0};

  void add() noexcept { put.fetch_add(1, sync::relaxed); }
  void finish() noexcept {
    base::announce_release(&finished);
    finished.fetch_add(1, sync::release);  // (put_count.Q)
  }
  std::uint64_t put_so_far() const noexcept { return put.load(sync::relaxed); }
  std::uint64_t finished_so_far() const noexcept {
    auto const n = finished.load(sync::acquire);  // (put_count.Q)
    base::announce_acquire(&finished);
    return n;
  }
};

}  // namespace nigh::tasks
