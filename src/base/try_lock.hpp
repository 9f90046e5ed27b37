// SPDX-License-Identifier: Apache-2.0
#pragma once
// A lock that no thread waits for: the one that finds it locked does something else.
//
// (try_lock.T) The thread that has the lock sees what all that had it before did: unlock()
//     releases, try_lock() acquires.

#include "base/atomic.hpp"
#include "base/race_detector.hpp"

namespace nigh::base {

class TryLock {
 public:
  bool try_lock() noexcept {
    if (is_locked() || locked_.exchange(true, sync::acquire)) return false;  // (try_lock.T)
    announce_acquire(&locked_);
    return true;
  }
  void unlock() noexcept {
    announce_release(&locked_);
    locked_.store(false, sync::release);  // (try_lock.T)
  }

  bool is_locked() const noexcept { return locked_.load(sync::relaxed); }
  // In a child of fork(), where no thread has it.
  void reset() noexcept { locked_.store(false, sync::relaxed); }

 private:
  sync::atomic<bool> locked_{false};
};

}  // namespace nigh::base
