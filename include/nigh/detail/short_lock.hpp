// SPDX-License-Identifier: Apache-2.0
#pragma once
// A lock for a few instructions. Not std::mutex: <mutex> brings clocks and system errors, and takes
// longer to compile than a small program.
//
// (short_lock.L) unlock() releases the word and the next lock() acquires it, so a holder sees what the
//     one before wrote.

#include <cstdint>
#include <nigh/detail/atomic.hpp>
#include <nigh/detail/export.hpp>

namespace nigh::detail {

// Sleeps while the word has this value; may return early.
NIGH_API void sleep_on(sync::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
NIGH_API void wake_one(sync::atomic<std::uint32_t>& word) noexcept;

// Compiled in programs, so that their thread sanitizer sees it.
class short_lock {
 public:
  class guard {
   public:
    explicit guard(short_lock& of) noexcept : of_(of) { of_.lock(); }
    ~guard() { of_.unlock(); }
    guard(guard const&) = delete;
    guard& operator=(guard const&) = delete;

   private:
    short_lock& of_;
  };

 private:
  static constexpr std::uint32_t open = 0, taken = 1, awaited = 2;  // a thread may sleep

  void lock() noexcept {
    auto before = open;
    if (word_.compare_exchange_strong(before, taken, sync::acquire)) return;                // (short_lock.L)
    while (word_.exchange(awaited, sync::acquire) != open) sleep_on(word_, awaited);  // (short_lock.L)
  }
  void unlock() noexcept {
    if (word_.exchange(open, sync::release) == awaited) wake_one(word_);  // (short_lock.L)
  }

  sync::atomic<std::uint32_t> word_{open};
};

}  // namespace nigh::detail
