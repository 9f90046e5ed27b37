// SPDX-License-Identifier: Apache-2.0
#pragma once
// A lock for sections of a few dozen instructions: spins briefly, then sleeps, so that a holder
// that lost its cpu is not spun for (Drepper, "Futexes Are Tricky", 2011, third mutex).

#include <cstdint>

#include "base/atomic.hpp"
#include "base/race_detector.hpp"
#include "platform/futex.hpp"
#include "platform/pause.hpp"

namespace nigh::tasks {

// word_: 0 free; 1 held; 2 held and somebody may be asleep on it.
// (lock.L) Taking the lock acquires what the last holder released.
// (lock.S) A thread stores a wish, then finds the lock taken, and goes on; the holder looks for
//     wishes once it has given the lock. If the store and that look are seq_cst, as the operations
//     in_order are, then the holder sees the wish, or the other thread found the lock free.
class Lock {
 public:
  void lock() noexcept {
    for (int i = 0; i < sync::spins; ++i) {
      if (try_lock()) return;
      sync::pause();
    }
    while (word_.exchange(2, sync::acquire) != 0) platform::futex_wait(word_, 2);  // (lock.L)
    base::announce_acquire(&word_);
  }

  bool try_lock() noexcept {
    std::uint32_t expected = 0;
    if (word_.load(sync::relaxed) != 0 ||
        !word_.compare_exchange_strong(expected, 1, sync::acquire))  // (lock.L)
      return false;
    base::announce_acquire(&word_);
    return true;
  }

  void unlock() noexcept {
    base::announce_release(&word_);
    if (word_.exchange(0, sync::release) == 2) platform::futex_wake_one(word_);  // (lock.L)
  }

  bool try_lock_in_order() noexcept {
    std::uint32_t expected = 0;
    if (!word_.compare_exchange_strong(expected, 1, sync::seq_cst)) return false;  // (lock.L) (lock.S)
    base::announce_acquire(&word_);
    return true;
  }

  void unlock_in_order() noexcept {
    base::announce_release(&word_);
    auto const before = word_.exchange(0, sync::seq_cst);  // (lock.L) (lock.S)
    if (before == 2) platform::futex_wake_one(word_);
  }

 private:
  sync::atomic<std::uint32_t> word_{0};
};

}  // namespace nigh::tasks
