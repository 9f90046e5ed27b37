// SPDX-License-Identifier: Apache-2.0
// A loop allocates nothing, whatever its schedule, on up to 32 workers.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>

namespace {

std::atomic<long> allocations{0};

}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
// Not inlined: g++ warns where it sees free() of what a new returned, but not that new's malloc().
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  if (void* const p = std::aligned_alloc(static_cast<std::size_t>(alignment), bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

long allocations_of_loops(int workers, char const* schedule) {
  auto const machine = nigh::topology::from_synthetic("pack:2 numa:1 core:20 pu:1").value();
  nigh::runtime_options options;
  options.machine = &machine;
  options.workers = workers;
  options.thread_stack_bytes = 256 * 1024;
  nigh::runtime runtime(options);
  nigh::loop_options how;
  how.how = nigh::parse_schedule(schedule).value();
  how.where = &runtime;
  std::atomic<long> sum{0};
  auto const loop = [&] { nigh::parallel_for(0, 1000, [&](int i) { sum += i; }, how); };
  loop();  // whatever is set up at first use
  runtime.wait();
  long const before = allocations;
  for (int n = 0; n < 20; ++n) loop();
  long const after = allocations;
  EXPECT_EQ(sum.load(), 21 * 999 * 500);
  return after - before;
}

TEST(LoopMemory, IsTheCallersStack) {
  for (char const* schedule : {"static", "static,3", "dynamic", "guided", "adaptive", "local"})
    EXPECT_EQ(allocations_of_loops(32, schedule), 0) << schedule;
}

TEST(LoopMemory, IsOneBlockOnManyWorkers) { EXPECT_EQ(allocations_of_loops(33, "adaptive"), 20); }

}  // namespace
