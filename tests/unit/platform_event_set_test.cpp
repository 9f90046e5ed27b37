// SPDX-License-Identifier: Apache-2.0
#include "platform/event_set.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

namespace nigh::platform {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

class PlatformEventSet : public testing::Test {
 protected:
  PlatformEventSet() {
    EXPECT_EQ(::pipe(ends_), 0);
    EXPECT_TRUE(events_.add(ends_[0], 7));
  }
  ~PlatformEventSet() override { ::close(ends_[0]), ::close(ends_[1]); }

  // How long nothing has happened.
  milliseconds waits(std::int64_t timeout_us) {
    auto const start = Clock::now();
    EXPECT_TRUE(events_.wait(timeout_us).empty());
    return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
  }
  void write() { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
  void read() {
    char c = 0;
    EXPECT_EQ(::read(ends_[0], &c, 1), 1);
  }

  EventSet events_ = EventSet::make().value();
  int ends_[2] = {-1, -1};
};

TEST_F(PlatformEventSet, NamesWhatHasHappened) {
  write();
  auto const names = events_.wait({});
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(names[0], 7u);
  read();
  EXPECT_TRUE(events_.wait(0).empty());
}

TEST_F(PlatformEventSet, OneNameIsItsOwn) {
  EXPECT_FALSE(events_.add(ends_[1], EventSet::reserved_name));
  EXPECT_TRUE(events_.add(ends_[1], EventSet::reserved_name - 1));
}

TEST_F(PlatformEventSet, WaitsForAsLongAsItIsTold) {
  EXPECT_GE(waits(20'000), milliseconds(20));
  EXPECT_GE(waits(5'000), milliseconds(5));
  EXPECT_LT(waits(0), milliseconds(1000));
}

// The time of a wait that ended early is still to come in the next ones.
TEST_F(PlatformEventSet, KeepsTheTimesOfWaitsApart) {
  write();
  EXPECT_EQ(events_.wait(20'000).size(), 1u);
  read();
  EXPECT_GE(waits(60'000), milliseconds(60)) << "longer than the one before would have been";
  write();
  EXPECT_EQ(events_.wait(60'000'000).size(), 1u);
  read();
  EXPECT_LT(waits(5'000), milliseconds(30'000)) << "shorter";
}

TEST_F(PlatformEventSet, ATimeThatIsOverEndsNoWaitWithout) {
  write();
  EXPECT_EQ(events_.wait(1'000).size(), 1u);
  EXPECT_EQ(events_.wait({}).size(), 1u);
  ::usleep(5'000);
  read();
  if (::fork() == 0) {
    ::usleep(30'000);
    write();
    ::_exit(0);
  }
  EXPECT_EQ(events_.wait({}).size(), 1u);
}

}  // namespace
}  // namespace nigh::platform
