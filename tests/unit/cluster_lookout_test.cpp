// SPDX-License-Identifier: Apache-2.0
// How the thread in run() sleeps, and who wakes it.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cluster/lookout.hpp"
#include "platform/exact_timers.hpp"

namespace {

using namespace nigh::cluster;
namespace platform = nigh::platform;
using namespace std::chrono;

template <class F>
nanoseconds time_of(F f) {
  auto const start = steady_clock::now();
  f();
  return steady_clock::now() - start;
}

// For what would take for ever, and must not.
constexpr auto for_ever_ns = nanoseconds(minutes(10)).count();

TEST(Lookout, SleepsAsLongAsItIsTold) {
  Lookout lookout(nullptr);
  for (auto const wanted : {Lookout::brief_sleep, Lookout::short_sleep, Lookout::long_sleep})
    EXPECT_GE(time_of([&] { lookout.sleep(lookout.calls(), [=] { return wanted; }); }), wanted);
}

TEST(Lookout, DoesNotSleepAfterACallThatItHasNotHeard) {
  Lookout lookout(nullptr);
  auto const calls = lookout.calls();
  lookout.call();
  auto shortest = nanoseconds(hours(1));
  for (int i = 0; i < 20; ++i)
    shortest = std::min(shortest,
                        time_of([&] { lookout.sleep(calls, [] { return Lookout::long_sleep; }); }));
  EXPECT_LT(shortest, Lookout::long_sleep);
}

TEST(Lookout, IsCalledFromSleepsThatAreTooLong) {
  Lookout lookout(nullptr);
  lookout.call_from_more_than(Lookout::brief_sleep);
  EXPECT_EQ(lookout.calls(), 0u) << "it is awake";
  auto const is_called_from = [&](Lookout::Time time, Lookout::Time most) {
    std::thread worker;
    bool const is_called = lookout.sleep(lookout.calls(), [&] {
      worker = std::thread([&, most] {
        std::this_thread::sleep_for(milliseconds(1));
        lookout.call_from_more_than(most);
      });
      return time;
    });
    worker.join();
    return is_called;
  };
  // One that is still to say how long it sleeps may be called from any sleep: again, then.
  bool is_left_alone = false;
  for (int i = 0; i < 100 && !is_left_alone; ++i)
    is_left_alone = !is_called_from(Lookout::brief_sleep, Lookout::brief_sleep);
  EXPECT_TRUE(is_left_alone);
  auto const calls = lookout.calls();
  EXPECT_TRUE(is_called_from(minutes(10), Lookout::short_sleep));
  EXPECT_EQ(lookout.calls(), calls + 1);
}

TEST(Lookout, IsCalledWhileItThinksHowLongToSleep) {
  Lookout lookout(nullptr);
  EXPECT_TRUE(lookout.sleep(lookout.calls(), [&] {
    lookout.call_from_more_than(Lookout::short_sleep);
    return Lookout::Time(for_ever_ns);
  }));
}

// A caller has stored its reason before: the thread that hears the call sees it.
TEST(Lookout, HearsWhatItIsCalledFor) {
  for (int i = 0; i < 100; ++i) {
    Lookout lookout(nullptr);
    nigh::sync::atomic<bool> is_over{false};
    std::thread other([&] {
      is_over.store(true, nigh::sync::relaxed);
      lookout.call();
    });
    for (;;) {
      auto const calls = lookout.calls();
      if (is_over.load(nigh::sync::relaxed)) break;
      lookout.sleep(calls, [] { return Lookout::long_sleep; });
    }
    other.join();
  }
}

TEST(Lookout, IsCalledByOtherProcesses) {
  auto* const memory = ::mmap(nullptr, sizeof(Lookout::Word), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const bell = ::new (memory) Lookout::Word(0);
  auto const child = ::fork();
  if (child == 0) {
    ::usleep(20'000);
    Lookout::call(*bell);
    ::_exit(0);
  }
  platform::shared_futex_wait(*bell, 0, for_ever_ns);
  EXPECT_EQ(Lookout(bell).calls(), 1u);
  ::waitpid(child, nullptr, 0);
  ::munmap(memory, sizeof(Lookout::Word));
}

TEST(ExactTimers, AreSoWhileOneLives) {
  auto const slack = [] { return ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0); };
  int const before = slack();
  if (before <= 0) GTEST_SKIP() << "this thread's timers are exact as they are";
  {
    platform::ExactTimers const timers;
    EXPECT_EQ(slack(), 1000);
  }
  EXPECT_EQ(slack(), before);
}

}  // namespace
