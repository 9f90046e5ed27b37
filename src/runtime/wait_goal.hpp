// SPDX-License-Identifier: Apache-2.0
#pragma once
// A wait goal is the condition that ends a thread's loop or wait. Until then it runs other tasks.
// Each is a struct with:
//
//   waiting_for     the kind of the goal, for policy::permissions()
//   done()          asked often
//   surely_done()   asked once before the thread sleeps, in the order of all seq_cst operations
//                   (parking.S)
//   thief()         the thread to help first; null: none
//   looks_first     of a goal that a thread helps others for: so often it looks at done() and
//                   thief() alone before it searches
//   announce()      of such a goal, once it is done: tells a race detector of what it acquired

#include <cstdint>

#include "base/atomic.hpp"
#include "base/race_detector.hpp"
#include "runtime/pool.hpp"

namespace nigh::tasks {

struct RuntimeEnd {
  static constexpr auto waiting_for = policy::WaitingFor::work;
  Pool& pool;
  static Worker* thief() noexcept { return nullptr; }
  bool done() const noexcept { return pool.stopping.load(sync::relaxed); }
  bool surely_done() const noexcept { return pool.stopping.load(sync::seq_cst); }  // (parking.S)
};

struct Dismissal {  // a backup thread's worker is back
  static constexpr auto waiting_for = policy::WaitingFor::work;
  Worker& me;
  static Worker* thief() noexcept { return nullptr; }
  bool done() const noexcept { return me.duty.load(sync::relaxed) != Worker::on; }
  bool surely_done() const noexcept {
    return me.duty.load(sync::seq_cst) != Worker::on;  // (parking.S)
  }
};

struct StolenTask {  // its thief has finished it
  static constexpr auto waiting_for = policy::WaitingFor::stolen_task;
  static constexpr int looks_first = policy::IdlePolicy{}.looks_first;
  Pool& pool;
  detail::task_slot const& slot;
  // The first thief: the task may have been stolen again from its stack, as a proxy. Null: the
  // thief has not said so yet, is no thread of ours, or is done.
  Worker* thief() const noexcept {
    auto const state = slot.state.load(sync::relaxed);
    return state == detail::task_slot::waiting || state >= detail::task_slot::away
               ? nullptr
               : &pool.threads[state - 1];
  }
  bool done() const noexcept { return slot.finished(); }
  void announce() const noexcept { base::announce_acquire(&slot.state); }  // (stack.E)
  bool surely_done() const noexcept {
    return slot.state.load(sync::seq_cst) == detail::task_slot::done;  // (stack.E) (parking.S)
  }
};

// A scope's queued tasks have run. Perhaps this very thread has to run them, so it begins at once.
struct Zero {
  static constexpr auto waiting_for = policy::WaitingFor::scope;
  static constexpr int looks_first = 0;
  sync::atomic<std::uint32_t> const& word;
  static Worker* thief() noexcept { return nullptr; }
  bool done() const noexcept { return word.load(sync::acquire) == 0; }  // (stack.E)
  void announce() const noexcept { base::announce_acquire(&word); }     // (stack.E) (mailbox.E)
  bool surely_done() const noexcept {
    return word.load(sync::seq_cst) == 0;  // (stack.E) (parking.S)
  }
};

// All that have taken a message have finished: they are at work on it, and mostly done soon.
struct Receivers : Zero {
  static constexpr int looks_first = policy::IdlePolicy{}.looks_first;
};

}  // namespace nigh::tasks
