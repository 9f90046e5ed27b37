// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads that wait for each other awake, for measurements in which nobody may sleep.

#include <atomic>
#include <chrono>

namespace bench {

// (handshakes.T) A thread in its turn sees all that the thread before it did: wait() acquires what
// pass() released.
class Turn {
 public:
  void wait(int mine) const noexcept {
    while (now_.load(std::memory_order_acquire) != mine) {  // (handshakes.T)
    }
  }
  void pass(int next) noexcept {
    now_.store(next, std::memory_order_release);  // (handshakes.T)
  }

 private:
  alignas(64) std::atomic<int> now_{0};
};

// attend() returns when `all` are here, or after a second, and then has missed somebody.
//
// (handshakes.M) Threads that have met see all that each did before it came: coming releases it,
// and seeing the others acquires it.
class Meeting {
 public:
  void open() noexcept { here_.store(0, std::memory_order_relaxed); }

  void attend(int all = 2) noexcept {
    here_.fetch_add(1, std::memory_order_acq_rel);  // (handshakes.M)
    auto const start = Clock::now();
    while (here_.load(std::memory_order_acquire) < all)  // (handshakes.M)
      if (Clock::now() - start > std::chrono::seconds(1)) {
        missed_.store(true, std::memory_order_relaxed);
        return;
      }
  }

  bool missed() const noexcept { return missed_.load(std::memory_order_relaxed); }

 private:
  using Clock = std::chrono::steady_clock;

  alignas(64) std::atomic<int> here_{0};
  alignas(64) std::atomic<bool> missed_{false};
};

}  // namespace bench
