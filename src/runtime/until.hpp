// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a thread in scheduler::serve() waits for. done() is asked often; surely_done() once before
// it sleeps, in the order of all seq_cst operations (parking.hpp, S); thief() is whom to help
// first; joins says whether something waits below what is run meanwhile.

#include "runtime/scheduler.hpp"

namespace nigh::detail {

struct scheduler::Ending {  // a worker: the runtime's end
  static constexpr bool joins = false;
  scheduler& host;
  static Worker* thief(scheduler&) noexcept { return nullptr; }
  bool done() const noexcept { return host.stopping_.load(sync::relaxed); }
  bool surely_done() const noexcept { return host.stopping_.load(sync::seq_cst); }  // (S)
};

struct scheduler::Dismissal {  // a stand-in: its worker is back
  static constexpr bool joins = false;
  Worker& me;
  static Worker* thief(scheduler&) noexcept { return nullptr; }
  bool done() const noexcept { return me.duty.load(sync::relaxed) != Worker::on; }
  bool surely_done() const noexcept { return me.duty.load(sync::seq_cst) != Worker::on; }  // (S)
};

struct scheduler::StolenTask {  // a join: the thief has finished
  static constexpr bool joins = true;
  task_slot const& slot;
  Worker* thief(scheduler& host) const noexcept {  // null: not said yet, away, or done
    auto const state = slot.state.load(sync::relaxed);
    return state == task_slot::waiting || state >= task_slot::away
               ? nullptr
               : &host.worker(static_cast<int>(state) - 1);
  }
  bool done() const noexcept { return slot.finished(); }
  bool surely_done() const noexcept {
    return slot.state.load(sync::seq_cst) == task_slot::done;
  }  // (E) (S)
};

struct scheduler::Zero {  // a scope: its queued tasks have run
  static constexpr bool joins = true;
  sync::atomic<std::uint32_t> const& word;
  static Worker* thief(scheduler&) noexcept { return nullptr; }
  bool done() const noexcept { return word.load(sync::acquire) == 0; }         // (E)
  bool surely_done() const noexcept { return word.load(sync::seq_cst) == 0; }  // (E) (S)
};

}  // namespace nigh::detail
