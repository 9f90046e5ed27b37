// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sleep of the thread in run(), which looks for messages when no other thread does. Each time
// it wakes, some worker has no cpu for a while: two workers on a virtual machine with two cpus lost
// 8% of their speed when it woke every 150 us. So it sleeps long (policy/stealing/attention.hpp)
// where workers look for messages all the time, or where others wake it:
//
//   a rank        of the host that wants tasks, and sees that no thread looks (shared_stealing.hpp)
//   a worker      that goes to sleep: from then on this thread looks for tasks in its place
//   any thread    that has seen the run's end
//
// Missing one of the first two calls costs a long sleep and no more.

#include <chrono>
#include <cstdint>

#include "base/atomic.hpp"
#include "platform/futex.hpp"
#include "policy/stealing/attention.hpp"

namespace nigh::cluster {

class Lookout {
 public:
  using Word = sync::atomic<std::uint32_t>;  // counts calls
  using Time = std::chrono::nanoseconds;
  static constexpr policy::LookoutPolicy policy{};
  static constexpr Time brief_sleep{policy.brief_ns};
  static constexpr Time short_sleep{policy.short_ns};
  static constexpr Time long_sleep{policy.long_ns};

  // bell: where other processes can ring it; null: they need not.
  explicit Lookout(Word* bell) noexcept : bell_(bell != nullptr ? *bell : own_bell_) {}

  // (lookout.C) A caller stores its reason before it calls. The thread reads calls() before it
  //     looks for a reason to sleep, and sleeps only while there is no new call: so it sees the
  //     reason.
  std::uint32_t calls() const noexcept { return bell_.load(sync::acquire); }  // (lookout.C)
  static void call(Word& bell) noexcept {
    bell.fetch_add(1, sync::release);  // (lookout.C)
    platform::shared_futex_wake_all(bell);
  }
  void call() noexcept { call(bell_); }

  // For a worker that goes to sleep: wakes the thread from a sleep that is longer than `sleep`.
  // (lookout.N) The thread says how long it sleeps before it asks whether a worker is idle; a
  //     worker counts as idle, by (parking.I), before it reads that. So one of the two sees the
  //     other.
  void call_from_more_than(Time sleep) noexcept {
    if (sleeps_ns_.load(sync::seq_cst) > sleep.count() &&  // (lookout.N)
        sleeps_ns_.exchange(0, sync::relaxed) > sleep.count())
      call();
  }

  // Sleeps until somebody calls, or it is time. how_long() is asked when workers that go to sleep
  // already call. True: somebody has.
  template <class HowLong>
  bool sleep(std::uint32_t calls, HowLong how_long) noexcept {
    sleeps_ns_.store(long_sleep.count(), sync::seq_cst);  // (lookout.N)
    Time const most = how_long();
    if (most < long_sleep) sleeps_ns_.store(most.count(), sync::relaxed);
    platform::shared_futex_wait(bell_, calls, most.count());
    sleeps_ns_.store(0, sync::relaxed);
    return this->calls() != calls;
  }

 private:
  Word own_bell_{0};
  Word& bell_;
  sync::atomic<std::int64_t> sleeps_ns_{0};  // for so long at most; 0: it is awake
};

}  // namespace nigh::cluster
