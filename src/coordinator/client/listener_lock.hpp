// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whose turn it is to listen: one thread's; the others sleep until it has heard something, and then
// look whether that was for them, before they listen themselves.

#include <cstdint>

#include "base/atomic.hpp"
#include "platform/futex.hpp"

namespace nigh::coordinator {

// word_: 0 free; 1 taken; 2 taken and somebody may be asleep on it.
// (T) Taking the turn acquires what those who had it before released.
class ListenerLock {
 public:
  bool try_take() noexcept {
    std::uint32_t expected = 0;
    return word_.compare_exchange_strong(expected, 1, sync::acquire);  // (T)
  }
  void give() noexcept {
    if (word_.exchange(0, sync::release) == 2) platform::futex_wake_all(word_);  // (T)
  }
  // Until it is given, unless it is free by now. What woke us may have been for us: the caller
  // looks before it tries to take it.
  void await() noexcept {
    if (somebody_has_it()) platform::futex_wait(word_, 2);
  }
  // The same, for so long at most.
  void await_for(std::int64_t us) noexcept {
    if (somebody_has_it()) platform::futex_wait_for(word_, 2, us * 1000);
  }
  void take() noexcept {
    while (!try_take()) await();
  }
  // In a child of fork(), where nobody has it.
  void reset() noexcept { word_.store(0, sync::relaxed); }

 private:
  bool somebody_has_it() noexcept {
    std::uint32_t expected = 1;
    return word_.compare_exchange_strong(expected, 2, sync::relaxed) || expected == 2;
  }

  sync::atomic<std::uint32_t> word_{0};
};

}  // namespace nigh::coordinator
