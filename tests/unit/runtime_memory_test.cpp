// SPDX-License-Identifier: Apache-2.0
// Waiting tasks take workers x task_capacity x 64 bytes and no more, however many are spawned.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <string>

namespace {

// From /proc/self/status, "VmHWM" (the most there has been) or "VmRSS".
std::uint64_t resident_bytes(std::string const& which) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == which + ":") {
      std::uint64_t kib = 0;
      status >> kib;
      return kib << 10;
    }
  return 0;
}

std::uint64_t allocated_bytes() { return mallinfo2().uordblks; }

// Fibonacci, but each call spawns its two halves fifty times before it waits: help-first bursts.
void burst(int n, std::atomic<std::uint64_t>& calls) {
  calls.fetch_add(1, std::memory_order_relaxed);
  if (n < 2) return;
  nigh::task_scope scope;
  for (int i = 0; i < 50; ++i) {
    scope.spawn([n, &calls] { burst(n - 1, calls); });
    scope.spawn([n, &calls] { burst(n - 2, calls); });
  }
  scope.wait();
}

TEST(TaskMemory, IsBoundedByTheStacks) {
  constexpr int workers = 2;
  constexpr std::size_t capacity = 8192;
  auto const machine = nigh::topology::from_synthetic("numa:1 core:2 pu:1").value();
  nigh::runtime rt({.machine = &machine, .workers = workers, .task_capacity = capacity});
  std::atomic<std::uint64_t> calls{0};
  rt.run([&] { burst(2, calls); });  // whatever is set up at first use

  auto const before = resident_bytes("VmRSS");
  auto const heap_before = allocated_bytes();
  std::uint64_t heap_meanwhile = 0;
  calls = 0;
  rt.run([&] {
    nigh::task_scope scope;
    for (int i = 0; i < 1'000'000; ++i) scope.spawn([&] { ++calls; });
    heap_meanwhile = allocated_bytes();
    scope.wait();
    burst(4, calls);
  });
  // a(n) = 1 + 50 (a(n-1) + a(n-2)), a(0) = a(1) = 1
  EXPECT_EQ(calls, 1'000'000u + 1 + 50u * ((1 + 50u * (101 + 1)) + 101));
  constexpr std::uint64_t bound = workers * capacity * 64;
  constexpr std::uint64_t frames = 4 << 20;  // of the recursion itself, and of the test
  EXPECT_LE(resident_bytes("VmHWM"), before + bound + frames);
  EXPECT_EQ(heap_meanwhile, heap_before) << "spawning allocates nothing";
  std::uint64_t serialized = 0;
  for (auto const& c : rt.counters()) serialized += c.serialized;
  EXPECT_GT(serialized, 0u) << "the stacks were never full";
}

}  // namespace
