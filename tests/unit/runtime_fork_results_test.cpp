// SPDX-License-Identifier: Apache-2.0
// Results of fork_join whose moves throw.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <nigh/fork_join.hpp>
#include <nigh/runtime.hpp>
#include <stdexcept>
#include <thread>

#include "synthetic.hpp"

namespace {

using nigh::fork_join;
using nigh::runtime;
using nigh::tests::synthetic;

// The right result's move throws after it was made, by this thread or by another one.
TEST(ForkResults, DestroysAResultWhoseMoveThrows) {
  struct immovable {
    explicit immovable(std::atomic<int>& n) : alive(n) { ++alive; }
    immovable(immovable&& o) : alive(o.alive) { throw std::runtime_error("no move"); }
    ~immovable() { --alive; }
    std::atomic<int>& alive;
  };
  std::atomic<int> alive{0};
  auto const machine = synthetic("pack:2 numa:1 core:1 pu:1");
  runtime rt({.machine = &machine, .workers = 2});
  for (int i = 0; i < 100; ++i) {
    std::atomic<bool> taken{false};
    EXPECT_THROW(rt.invoke([&] {
      static_cast<void>(fork_join(
          [&] {
            for (auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
                 !taken && std::chrono::steady_clock::now() < end;)
              std::this_thread::yield();
          },
          [&] {
            taken = true;
            return immovable(alive);
          }));
    }),
                 std::runtime_error);
    ASSERT_EQ(alive, 0) << i;
  }
}

}  // namespace
