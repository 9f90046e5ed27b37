// SPDX-License-Identifier: Apache-2.0
#pragma once
// Team threads without work sleep here until somebody wakes them.
//
//   awake --sleep()--> asleep --wake(), or sleep() itself on news--> awake
//
// (sleeper.S) Nobody sleeps over news. A thread that goes to sleep stores its word and counts
// itself, then
//     looks for news; who has news stores them first and then looks at the count and the word. All
//     of these are seq_cst: either the sleeper sees the news, or it is seen asleep.
// (sleeper.W) Waking hands over: the sleeper sees all that its waker did before.

#include <cstdint>

#include "base/atomic.hpp"
#include "platform/futex.hpp"

namespace nigh::openmp::tasks {

class Sleeper {
 public:
  // News: a bool() of seq_cst loads. `sleepers`: how many of the team sleep.
  template <class News>
  void sleep(sync::atomic<std::uint32_t>& sleepers, News news) noexcept {
    state_.store(asleep, sync::seq_cst);   // (sleeper.S)
    sleepers.fetch_add(1, sync::seq_cst);  // (sleeper.S)
    std::uint32_t expected = asleep;
    if (!news() || !state_.compare_exchange_strong(expected, awake, sync::relaxed)) {
      while (state_.load(sync::acquire) != awake)
        platform::futex_wait(state_, asleep);  // (sleeper.W)
    }
    sleepers.fetch_sub(1, sync::relaxed);
  }

  bool is_asleep() const noexcept { return state_.load(sync::seq_cst) == asleep; }  // (sleeper.S)

  bool wake() noexcept {
    if (!is_asleep()) return false;
    std::uint32_t expected = asleep;
    if (!state_.compare_exchange_strong(expected, awake, sync::release))
      return false;  // (sleeper.W)
    platform::futex_wake_one(state_);
    return true;
  }

 private:
  static constexpr std::uint32_t awake = 0, asleep = 1;
  sync::atomic<std::uint32_t> state_{awake};
};

}  // namespace nigh::openmp::tasks
