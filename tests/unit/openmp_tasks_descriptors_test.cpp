// SPDX-License-Identifier: Apache-2.0
// Descriptors of tasks that are free, whoever ran the tasks, and the count of tasks.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "openmp_engine.hpp"

namespace nigh::test {
namespace {

using namespace std::chrono_literals;

int look_at_free_ones(Member const& me) {
  int seen = 0;
  for (Task const* t = me.free[0]; t != nullptr; t = t->parent.load(sync::relaxed), ++seen) {
    EXPECT_TRUE(t->is_as_begun());
    EXPECT_EQ(t->home, &me);
  }
  return seen;
}

// Families of which another thread takes a part. Parents end before their children, and after them.
TEST(OpenmpTasksDescriptors, AreAsOfTasksThatBeginWhenTheyAreFree) {
  std::atomic<int> taken{0}, looked_at{0};
  in_team({0, 1}, [&](std::uint32_t k) {
    if (k != 0) return;
    auto const end = std::chrono::steady_clock::now() + 20s;
    for (int round = 0; taken < 30 && std::chrono::steady_clock::now() < end; ++round) {
      bool const waits = round % 2 == 0;
      spawn([&taken, waits] {
        for (int i = 0; i < 4; ++i)
          spawn([&taken] {
            if (member->number != 0) ++taken;
            std::this_thread::sleep_for(100us);
          });
        if (waits) taskwait(*member);
      });
      taskwait(*member);
      looked_at += look_at_free_ones(*member);
    }
  });
  EXPECT_GE(taken, 30);
  EXPECT_GT(looked_at, 0);
}

TEST(OpenmpTasksDescriptors, AreCountedOnceForEachBody) {
  in_team({0}, [](std::uint32_t) {
    auto const before = member->made();
    for (int i = 0; i < 3000; ++i) {
      spawn([] { spawn([] {}); });
      if (i % 7 == 0) taskwait(*member);
    }
    barrier(*member);
    EXPECT_EQ(member->made(), before + 6000);
    EXPECT_EQ(member->implicit.own, 0);
  });
}

}  // namespace
}  // namespace nigh::test
