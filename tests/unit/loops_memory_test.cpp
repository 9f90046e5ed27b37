// SPDX-License-Identifier: Apache-2.0
// A loop allocates nothing, whatever its schedule, on up to 32 workers; a stencil little beside its grid.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/stencil.hpp>

namespace {

std::atomic<long> allocations{0};
std::atomic<std::size_t> bytes_now{0}, bytes_at_most{0};

void* counted(void* p) {
  if (p == nullptr) throw std::bad_alloc();
  ++allocations;
  auto const now = bytes_now += malloc_usable_size(p);
  for (auto most = bytes_at_most.load(); most < now && !bytes_at_most.compare_exchange_weak(most, now);)
    continue;
  return p;
}
void count_down(void* p) noexcept { bytes_now -= malloc_usable_size(p); }

}  // namespace

void* operator new(std::size_t bytes) { return counted(std::malloc(bytes)); }
// Not inlined: g++ warns where it sees free() of what a new returned, but not that new's malloc().
[[gnu::noinline]] void operator delete(void* p) noexcept {
  count_down(p);
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { operator delete(p); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(std::aligned_alloc(static_cast<std::size_t>(alignment), bytes));
}
void operator delete(void* p, std::align_val_t) noexcept { operator delete(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { operator delete(p); }

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

// Beside two grids of doubles, in tiles of as many steps as are cut at a time.
TEST(StencilMemory, IsAPercentOfItsGrids) {
  nigh::runtime runtime({.workers = 2});
  std::size_t const side = 600, grids = 2 * sizeof(double) * side * side * side;
  auto const before = bytes_now.load();
  bytes_at_most = before;
  nigh::stencil<3> stencil({.points = {side, side, side}}, {.tile_width = 4, .where = &runtime});
  ASSERT_TRUE(stencil.plan().in_tiles);
  std::atomic<long> parts{0};
  stencil.run(4096, [&](std::size_t, nigh::box<3> const& b) {
    if (b.begin[0] == 0 && b.begin[1] == 0) ++parts;
  });
  EXPECT_GE(parts, 4096);
  EXPECT_GT(bytes_at_most, before);
  EXPECT_LT(bytes_at_most - before, grids / 100);
}

TEST(LoopMemory, IsOneBlockOnManyWorkers) { EXPECT_EQ(allocations_of_loops(33, "adaptive"), 20); }

}  // namespace
