// SPDX-License-Identifier: Apache-2.0
#pragma once
// A lock for a few dozen instructions, in one byte. A thread that waits for long lets others have
// the cpu.

#include "base/try_lock.hpp"
#include "platform/give_way.hpp"

namespace nigh::openmp::tasks {

class YieldingLock {
 public:
  void lock() noexcept {
    for (int looks = 0; !lock_.try_lock(); ++looks) platform::give_way(looks);
  }
  void unlock() noexcept { lock_.unlock(); }

 private:
  base::TryLock lock_;
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
