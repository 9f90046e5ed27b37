// SPDX-License-Identifier: Apache-2.0
#pragma once
// A lock for a few dozen instructions, in one byte. A thread that waits for long lets others have
// the cpu.
//
// (yielding_lock.J) The lock hands over what it guards as the thread before left it.

#include <cstdint>

#include "base/atomic.hpp"
#include "platform/pause.hpp"
#include "platform/thread.hpp"

namespace nigh::openmp::tasks {

class YieldingLock {
 public:
  void lock() noexcept {
    for (int i = 0; is_taken_.exchange(true, sync::acquire); ++i) {  // (yielding_lock.J)
      if (i < sync::spins)
        sync::pause();
      else
        platform::yield();
    }
  }
  void unlock() noexcept { is_taken_.store(false, sync::release); }  // (yielding_lock.J)

 private:
  sync::atomic<bool> is_taken_{false};
};

class Locked {
 public:
  explicit Locked(YieldingLock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(Locked&&) = delete;
  Locked& operator=(Locked&&) = delete;

 private:
  YieldingLock& lock_;
};

}  // namespace nigh::openmp::tasks
