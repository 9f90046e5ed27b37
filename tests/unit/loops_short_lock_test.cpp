// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <nigh/detail/short_lock.hpp>
#include <thread>
#include <vector>

namespace {

TEST(ShortLock, LetsOneThreadIn) {
  nigh::detail::short_lock lock;
  long count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int n = 0; n < 20'000; ++n) {
        nigh::detail::short_lock::guard const guard(lock);
        ++count;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(count, 4 * 20'000);
}

TEST(ShortLock, WakesAThreadThatSleeps) {
  nigh::detail::short_lock lock;
  bool done = false;
  std::thread other;
  {
    nigh::detail::short_lock::guard const guard(lock);
    other = std::thread([&] {
      nigh::detail::short_lock::guard const inner(lock);
      done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(done);
  }
  other.join();
  EXPECT_TRUE(done);
}

}  // namespace
