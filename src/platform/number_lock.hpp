// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keeps what a descriptor's number means: any number of threads may use the number at a time; a
// thread that closes it, or gives it another meaning, is alone.
//
// word_: how many threads use it; `taken`: one is alone; `awaited`: a thread sleeps, and no further
// one comes in until all that are in have left. So neither kind waits for ever.
// (number_lock.N) A thread that is alone sees what all before it did, and all after it see what it
//     did. In between others only count up and down, which keeps the order.

#include <cstdint>

#include "base/atomic.hpp"
#include "platform/futex.hpp"

namespace nigh::platform {

class NumberLock {
 public:
  void share() noexcept {
    for (;;) {
      auto seen = word_.load(sync::relaxed);
      if ((seen & (taken | awaited)) != 0)
        sleep(seen);
      else if (word_.compare_exchange_strong(seen, seen + 1, sync::acquire))  // (number_lock.N)
        return;
    }
  }
  void unshare() noexcept {
    if (word_.fetch_sub(1, sync::release) == (awaited | 1)) {  // (number_lock.N)
      auto expected = awaited;
      word_.compare_exchange_strong(expected, 0, sync::relaxed);
      futex_wake_all(word_);
    }
  }

  void take() noexcept {
    for (;;) {
      std::uint32_t seen = 0;
      if (word_.compare_exchange_strong(seen, taken, sync::acquire)) return;  // (number_lock.N)
      sleep(seen);
    }
  }
  void give() noexcept {
    auto const before = word_.exchange(0, sync::release);  // (number_lock.N)
    if ((before & awaited) != 0) futex_wake_all(word_);
  }

  // In a child of fork(), where no thread has it.
  void reset() noexcept { word_.store(0, sync::relaxed); }

 private:
  static constexpr std::uint32_t taken = std::uint32_t{1} << 31U, awaited = std::uint32_t{1} << 30U;

  // Does nothing if the word has changed since it was seen.
  void sleep(std::uint32_t seen) noexcept {
    if ((seen & awaited) == 0 &&
        !word_.compare_exchange_strong(seen, seen | awaited, sync::relaxed))
      return;
    futex_wait(word_, seen | awaited);
  }

  sync::atomic<std::uint32_t> word_{0};
};

}  // namespace nigh::platform
