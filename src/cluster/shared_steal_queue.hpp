// SPDX-License-Identifier: Apache-2.0
#pragma once
// The queue from which the other ranks of a host may take a rank's tasks: a bounded ring in memory
// that these ranks share. It holds no addresses, and no rank ever waits for another.
//
//   owner   put()    at tail_, one thread at a time
//   anyone  take()   at head_, oldest first, several with one compare-exchange; the owner, too,
//                    when it runs dry
//
// Each slot has a turn, which says for which position of the endless row of tasks it is free, or
// whose task it holds, and of which run. Position p lies in slot p % capacity.
//
//   free for p ──put()──▶ holds p ──take()──▶ free for p + capacity
//
// A position is taken once: head_ only grows, by the compare-exchange that takes the positions it
// passes. A thief that read head_, or a turn, long ago fails there. head_ orders nothing; the turns
// do:
// (steal_queue.P) A task is seen whole: put() releases the turn after it wrote the task; take()
//     acquires the turn before it reads the task.
// (steal_queue.R) A slot is not written while it is read: take() releases the turn when it has
//     copied the task; put() acquires the turn before it writes the next.
//
// A rank that dies or is stopped between its compare-exchange and the turns leaves slots that are
// never free again: put() then finds no room, and its tasks stay where they were.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/race_detector.hpp"
#include "runtime/locality_queue.hpp"

namespace nigh::cluster {

using tasks::Take;

template <class T, std::size_t capacity>
class SharedStealQueue {
 public:
  SharedStealQueue() noexcept {
    for (std::size_t p = 0; p < capacity; ++p) slots_[p].turn.store(free_for(p), sync::relaxed);
  }

  // Of runs that are numbered from 1. False: there is no room.
  bool put(T const& task, std::uint32_t run) noexcept {
    auto& slot = slots_[tail_ % capacity];
    if (slot.turn.load(sync::acquire) != free_for(tail_)) return false;  // (steal_queue.R)
    base::announce_acquire(&slot.turn);
    slot.task = task;
    base::announce_release(&slot.turn);
    slot.turn.store(holds(tail_, run), sync::release);  // (steal_queue.P)
    ++tail_;
    return true;
  }

  // Copies the oldest tasks to the front of `out`, if they are of this run: as many as
  // how_many(seen) says of those that are seen, which are no more than fit. `taken` gets their
  // number.
  template <class HowMany>
  Take take(std::span<T> out, std::size_t& taken, std::uint32_t run, HowMany how_many) noexcept {
    auto head = head_.load(sync::relaxed);
    std::size_t seen = 0;
    for (; seen < out.size(); ++seen) {
      auto const& slot = slots_[(head + seen) % capacity];
      if (slot.turn.load(sync::acquire) != holds(head + seen, run)) break;  // (steal_queue.P)
    }
    if (seen == 0) return Take::empty;
    std::size_t const n = how_many(seen);
    NIGH_ASSERT(0 < n && n <= seen, "a thief that sees tasks takes some of them");
    auto const first = head;
    if (!head_.compare_exchange_strong(head, first + n, sync::relaxed)) return Take::lost;
    for (std::size_t i = 0; i < n; ++i) {
      auto& slot = slots_[(first + i) % capacity];
      base::announce_acquire(&slot.turn);
      out[i] = slot.task;
      base::announce_release(&slot.turn);
      slot.turn.store(free_for(first + i + capacity), sync::release);  // (steal_queue.R)
    }
    taken = n;
    return Take::taken;
  }

  // For the owner, while nobody takes.
  bool is_empty() const noexcept { return head_.load(sync::relaxed) == tail_; }

 private:
  struct alignas(64) Slot {
    sync::atomic<std::uint64_t> turn{0};
    T task;
  };

  // The position's lower half will do: no thief sleeps through four billion tasks between two
  // loads, and one that did would fail at head_.
  static std::uint64_t free_for(std::uint64_t position) noexcept {
    return static_cast<std::uint32_t>(position);
  }
  static std::uint64_t holds(std::uint64_t position, std::uint32_t run) noexcept {
    return free_for(position) | std::uint64_t{run} << 32;
  }

  // Thieves keep the line of head_ while nobody else takes; the owner's is its own. A visit that
  // brings tasks then waits for the slots' lines, once for all of them, and for nothing else.
  alignas(64) sync::atomic<std::uint64_t> head_{0};
  alignas(64) std::uint64_t tail_ = 0;
  std::array<Slot, capacity> slots_;
};

}  // namespace nigh::cluster
