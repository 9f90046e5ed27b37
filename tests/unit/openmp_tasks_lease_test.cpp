// SPDX-License-Identifier: Apache-2.0
// The threads of a region follow its lease (src/openmp/tasks/team.cpp) while they run tasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "openmp_engine.hpp"

namespace nigh::test {
namespace {

// Outdated until it has been exchanged so often.
class Moving final : public openmp::RunningLease {
 public:
  explicit Moving(int changes) : changes_(changes) {}

  bool is_outdated() noexcept override { return place < changes_; }
  std::uint32_t exchange(std::uint32_t) noexcept override {
    for (int k = 0; k < threads_; ++k)
      EXPECT_EQ(places[static_cast<std::size_t>(k)].load(), place.load());
    ++place;
    return 1;
  }
  void tell(std::uint64_t made, std::uint64_t) noexcept override { told = made; }
  void settle(std::uint32_t number) noexcept override { places[number] = place.load(); }

  void use(int threads) { threads_ = threads; }
  bool is_everywhere() const {
    for (int k = 0; k < threads_; ++k)
      if (places[static_cast<std::size_t>(k)] != changes_) return false;
    return true;
  }

  std::atomic<int> place{0};
  std::uint64_t told = 0;  // tasks of all tests
  std::array<std::atomic<int>, 4> places{};

 private:
  int changes_, threads_ = 1;
};

TEST(LeaseOfARegion, IsFollowedByAllItsThreads) {
  Moving lease(3);
  lease.use(3);
  auto const body = [&](std::uint32_t k) {
    if (k != 0) return;
    while (!lease.is_everywhere()) {
      for (int i = 0; i < 100; ++i) spawn([] {});
      taskwait(*member);
    }
  };
  in_team({0, 1, 2}, body, &lease);
  EXPECT_EQ(lease.place, 3);
}

TEST(LeaseOfARegion, IsFollowedByAThreadThatAlwaysHasTasks) {
  Moving lease(1);
  int seen = 0;
  auto const body = [&](std::uint32_t) {
    for (int i = 0; i < 60; ++i) spawn([&] { seen = std::max(seen, lease.place.load()); });
    taskwait(*member);
  };
  in_team({0}, body, &lease);
  EXPECT_EQ(seen, 1) << "before its last task";
}

// Its leader waits for the other's task, which waits for the leader.
TEST(LeaseOfARegion, IsHeardOfByALeaderThatSleeps) {
  Moving lease(1);
  std::atomic<bool> is_taken{false};
  auto const body = [&](std::uint32_t k) {
    if (k == 0) {
      while (!is_taken) std::this_thread::yield();
      return;
    }
    spawn([] {});  // without tasks the leader would wait in the runtime's barrier
    run_at_once([&] {
      is_taken = true;
      while (lease.place == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  };
  in_team({0, 1}, body, &lease);
  EXPECT_EQ(lease.place, 1);
}

TEST(LeaseOfARegion, IsNotExchangedBeforeAllHaveCome) {
  Moving lease(1);
  std::atomic<bool> may_come{false};
  Team team;
  team.lease = &lease;
  std::thread other([&] {
    while (!may_come) std::this_thread::yield();
    enter(team, {2, 1, 1});
    leave();
  });
  enter(team, {2, 0, 0});
  for (int i = 0; i < 1000; ++i) run(*member, make_task([] {}));
  EXPECT_EQ(lease.place, 0);
  may_come = true;
  while (lease.place == 0) run(*member, make_task([] {}));
  leave();
  other.join();
  end(team);
}

// Not at once: the leader tells ten times a second.
TEST(LeaseOfARegion, HearsOfTasksWhileTheRegionRuns) {
  Moving lease(0);
  auto const body = [&](std::uint32_t k) {
    if (k != 0) return;
    auto const until = [&](std::uint64_t tasks) {
      while (lease.told < tasks) {
        for (int i = 0; i < 100; ++i) spawn([] {});
        taskwait(*member);
      }
    };
    until(1);
    until(lease.told + 2000);
  };
  in_team({0, 1}, body, &lease);
}

}  // namespace
}  // namespace nigh::test
