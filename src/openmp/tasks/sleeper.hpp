// SPDX-License-Identifier: Apache-2.0
#pragma once
// Team threads without work sleep here until somebody wakes them.
//
//   awake --sleep()--> asleep --wake(), or sleep() itself on news or after its time--> awake
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
    sleep_by(sleepers, news, [this] { platform::futex_wait(state_, asleep); });
  }
  // The same, for so long at most. False: until then there was nothing.
  template <class News>
  bool sleep_for(sync::atomic<std::uint32_t>& sleepers, News news, std::int64_t most_ns) noexcept {
    bool is_late = false;
    sleep_by(sleepers, news, [this, most_ns, &is_late] {
      platform::futex_wait_for(state_, asleep, most_ns);
      std::uint32_t expected = asleep;
      is_late = state_.compare_exchange_strong(expected, awake, sync::relaxed);
    });
    return !is_late;
  }

  bool is_asleep() const noexcept { return state_.load(sync::seq_cst) == asleep; }  // (sleeper.S)

  bool wake() noexcept {
    if (!is_asleep()) return false;
    std::uint32_t expected = asleep;
    if (!state_.compare_exchange_strong(expected, awake, sync::release))  // (sleeper.W)
      return false;
    platform::futex_wake_one(state_);
    return true;
  }

 private:
  static constexpr std::uint32_t awake = 0, asleep = 1;

  template <class News, class Wait>
  void sleep_by(sync::atomic<std::uint32_t>& sleepers, News news, Wait wait) noexcept {
    state_.store(asleep, sync::seq_cst);   // (sleeper.S)
    sleepers.fetch_add(1, sync::seq_cst);  // (sleeper.S)
    std::uint32_t expected = asleep;
    if (!news() || !state_.compare_exchange_strong(expected, awake, sync::relaxed)) {
      while (state_.load(sync::acquire) != awake) wait();  // (sleeper.W)
    }
    sleepers.fetch_sub(1, sync::relaxed);
  }

  sync::atomic<std::uint32_t> state_{awake};
};

}  // namespace nigh::openmp::tasks
