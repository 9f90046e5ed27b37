// SPDX-License-Identifier: Apache-2.0
// The order in which a spawner wakes workers. The model tests show that no task is forgotten.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "runtime/parking.hpp"

namespace {

using nigh::tasks::Parking;

// Sleepers 0 and 1 serve queue 0, sleeper 2 queue 1.
class Sleepers {
 public:
  Sleepers() {
    for (std::size_t w = 0; w < threads_.size(); ++w)
      threads_[w] = std::thread([this, w] {
        int const queue = w == 2;
        parking.start_searching(queue);
        // The news are asked for when it is to be found asleep.
        parking.sleep(static_cast<int>(w), queue, [this] {
          ++asleep_;
          return false;
        });
        last_woken_ = static_cast<int>(w);
        parking.stop_searching(queue);
        ++woken_;
      });
    while (asleep_ < 3) std::this_thread::yield();
  }
  ~Sleepers() {
    for (auto& thread : threads_) thread.join();
  }

  int woken_for_queue_0() {
    int const before = woken_;
    parking.notify(0, Parking::everywhere);
    while (woken_ == before) std::this_thread::yield();
    return last_woken_;
  }

  Parking parking{{{0, 1}, {2}}, {{0, 1}, {1, 0}}, 3};

 private:
  std::atomic<int> asleep_{0}, woken_{0}, last_woken_{-1};
  std::array<std::thread, 3> threads_;
};

TEST(Parking, WakesTheNearestFirst) {
  Sleepers sleepers;
  EXPECT_EQ(sleepers.woken_for_queue_0(), 0);
  EXPECT_EQ(sleepers.woken_for_queue_0(), 1);
  EXPECT_EQ(sleepers.woken_for_queue_0(), 2);
}

// Two threads on one cpu would have the kernel move one of them, with its data left behind.
TEST(Parking, WakesWhoIsDisplacedLastEvenIfTheOthersAreFar) {
  Sleepers sleepers;
  EXPECT_FALSE(sleepers.parking.displace(0));
  EXPECT_EQ(sleepers.woken_for_queue_0(), 1);
  EXPECT_EQ(sleepers.woken_for_queue_0(), 2);
  EXPECT_EQ(sleepers.woken_for_queue_0(), 0);
}

}  // namespace
