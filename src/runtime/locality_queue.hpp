// SPDX-License-Identifier: Apache-2.0
#pragma once
// The locality queue: a bounded FIFO of tasks that belong to one domain (Wittmann and Hager, "A
// Proof of Concept for Optimizing Task Parallelism by Locality Queues", 2009). Theirs is a
// std::queue under one lock that idle threads keep taking. Here spawners and takers have a lock
// each, and an empty queue is seen without a lock.
//
//   push()   any thread, at tail_, under push_lock_
//   take()   any thread, at head_, oldest first, several at once, under take_lock_
//
// Invariant: head_ <= tail_ <= head_ + capacity; both only grow; slots [head_, tail_) hold tasks.
// (queue.A) A task is seen whole: push() releases tail_ after writing the slot; take() acquires
//     tail_ before reading it.
// (queue.B) A slot is not overwritten while it is read: take() releases head_ after copying out;
//     push() acquires head_ before it reuses the slot.
// A sleeper and a spawner cannot miss each other: push() stores tail_, then notify() reads who
// sleeps; a worker announces its sleep, then empty() reads tail_. All four are seq_cst, so one of
// the two sees the other; (parking.S) has the rest of the argument.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/assert.hpp"
#include "base/atomic.hpp"
#include "base/race_detector.hpp"
#include "platform/pause.hpp"
#include "runtime/lock.hpp"

namespace nigh::tasks {

// The result of an attempt to take tasks.
enum class Take : std::uint8_t { taken, lost, empty };  // lost: another thread was at it

template <class T>
class LocalityQueue {
 public:
  // Capacity: a power of two. All memory is taken here, by the calling thread, for locality.
  explicit LocalityQueue(std::size_t capacity)
      : slots_(std::make_unique<T[]>(capacity)), mask_(capacity - 1) {
    NIGH_ASSERT(capacity > 0 && (capacity & mask_) == 0, "capacity is a power of two");
  }

  std::size_t capacity() const noexcept { return mask_ + 1; }

  // Appends all of `tasks`, or none and returns false when they do not fit.
  bool push(std::span<T const> tasks) noexcept {
    push_lock_.lock();
    auto const tail = tail_.load(sync::relaxed);
    if (tail + tasks.size() - head_seen_ > capacity()) {
      head_seen_ = head_.load(sync::acquire);  // (queue.B)
      if (tail + tasks.size() - head_seen_ > capacity()) {
        push_lock_.unlock();
        return false;
      }
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) slots_[(tail + i) & mask_] = tasks[i];
    sync::prefetch_for_write(&slots_[(tail + slots_ahead) & mask_]);
    base::announce_release(&tail_);
    tail_.store(tail + tasks.size(), sync::seq_cst);  // (queue.A) (parking.S)
    push_lock_.unlock();
    return true;
  }

  // Moves the oldest tasks to the front of `out`: as many as how_many(waiting) says, at least one
  // and no more than fit. `taken` gets their number. Waits for others that are taking.
  template <class HowMany>
  Take take(std::span<T> out, std::size_t& taken, HowMany how_many) noexcept {
    if (size() == 0) return Take::empty;
    take_lock_.lock();
    return take_locked(out, taken, how_many);
  }

  // The same for thieves, who rather go elsewhere than wait.
  template <class HowMany>
  Take try_take(std::span<T> out, std::size_t& taken, HowMany how_many) noexcept {
    if (size() == 0) return Take::empty;
    if (!take_lock_.try_lock()) return Take::lost;
    return take_locked(out, taken, how_many);
  }

  // Take the oldest task alone. False: they got none.
  bool take_one(T& task) noexcept {
    std::size_t taken = 0;
    return take({&task, 1}, taken, all) == Take::taken;
  }
  bool try_take_one(T& task) noexcept {
    std::size_t taken = 0;
    return try_take({&task, 1}, taken, all) == Take::taken;
  }

  // A recent length, good for choosing; orders nothing.
  std::size_t size() const noexcept {
    auto const head = head_.load(sync::relaxed);
    auto const tail = tail_.load(sync::relaxed);
    return tail > head ? tail - head : 0;
  }

  // For those about to sleep: true only if no push() before the announcement is still untaken.
  bool empty() const noexcept {
    auto const head = head_.load(sync::relaxed);
    return tail_.load(sync::seq_cst) == head;  // (parking.S)
  }

 private:
  // The cache line of a slot is with whoever took from it last; fetched this far ahead, it is back
  // in time.
  static constexpr std::size_t slots_ahead = 8;

  static constexpr std::size_t all(std::size_t waiting) noexcept { return waiting; }

  template <class HowMany>
  Take take_locked(std::span<T> out, std::size_t& taken, HowMany how_many) noexcept {
    auto const head = head_.load(sync::relaxed);
    auto const waiting = tail_.load(sync::acquire) - head;  // (queue.A)
    base::announce_acquire(&tail_);
    if (waiting > 0) {
      taken = std::min<std::size_t>({how_many(waiting), waiting, out.size()});
      for (std::size_t i = 0; i < taken; ++i) out[i] = slots_[(head + i) & mask_];
      head_.store(head + taken, sync::release);  // (queue.B)
    }
    take_lock_.unlock();
    return waiting > 0 ? Take::taken : Take::empty;
  }

  std::unique_ptr<T[]> slots_;
  std::size_t mask_;

  alignas(64) Lock push_lock_;
  std::size_t head_seen_ = 0;  // head_ as last read under push_lock_
  sync::atomic<std::size_t> tail_{0};

  alignas(64) Lock take_lock_;
  sync::atomic<std::size_t> head_{0};
};

}  // namespace nigh::tasks
