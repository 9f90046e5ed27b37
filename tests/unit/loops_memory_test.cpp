// SPDX-License-Identifier: Apache-2.0
// A loop allocates nothing, whatever its schedule, on up to 32 workers, and none of many needs memory; a stencil little beside its grid.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>
#include <nigh/algorithm.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <nigh/stencil.hpp>
#include <utility>
#include <vector>

namespace {

std::atomic<long> allocations{0};
std::atomic<std::size_t> bytes_now{0}, bytes_at_most{0};

std::atomic<bool> is_counting_down{false};
std::atomic<long> granted{0};  // while that is set: allocations until all are refused

void* counted(void* p) {
  if (is_counting_down && granted-- <= 0) {
    std::free(p);
    p = nullptr;
  }
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

// Calls attempt(has_memory) with memory for no allocation, one, two ..., until it needs no more.
// Returns how many attempts there were.
template <class Attempt>
int with_ever_more_memory(Attempt const& attempt) {
  for (int n = 0;; ++n) {
    bool refused = false;
    attempt([&](auto const& f) {
      granted = n;
      is_counting_down = true;
      try {
        f();
      } catch (std::bad_alloc const&) {
        refused = true;
      }
      is_counting_down = false;
      return !refused;
    });
    if (granted >= 0) return n + 1;
  }
}

struct marked {  // by where it was at first; -1: it has been moved from
  int key = 0, place = 0;
  marked() = default;
  marked(marked&& o) noexcept : key(o.key), place(std::exchange(o.place, -1)) {}
  marked& operator=(marked&& o) noexcept {
    key = o.key;
    place = std::exchange(o.place, -1);
    return *this;
  }
};
constexpr int many_elements = 60'000;
std::vector<marked> many_marked() {
  std::vector<marked> v(many_elements);
  for (int i = 0; i < many_elements; ++i) {
    v[static_cast<std::size_t>(i)].key = i * 7919 % 1000;
    v[static_cast<std::size_t>(i)].place = i;
  }
  return v;
}
bool holds_each_once(std::vector<marked> const& v) {
  std::vector<bool> seen(v.size());
  for (auto const& x : v) {
    if (x.place < 0 || seen[static_cast<std::size_t>(x.place)]) return false;
    seen[static_cast<std::size_t>(x.place)] = true;
  }
  return true;
}

class NoMemory : public testing::Test {
 protected:
  nigh::topology const machine = nigh::topology::from_synthetic("pack:40 numa:1 core:1 pu:1").value();
  nigh::runtime forty{{.machine = &machine, .thread_stack_bytes = 256 * 1024}};
};

TEST_F(NoMemory, ForTheSpansOfALoopMakesItOneThreads) {
  std::atomic<long> sum{0};
  auto const loop = [&] { nigh::parallel_for(0, 1000, [&](int i) { sum += i; }, {.where = &forty}); };
  loop();
  EXPECT_GT(with_ever_more_memory([&](auto const& try_to) {
              sum = 0;
              EXPECT_TRUE(try_to(loop));
              EXPECT_EQ(sum, 999 * 500);
            }),
            1);
}

TEST_F(NoMemory, ForAnArraysPlacementMakesALoopGoElsewhere) {
  nigh::array<int> const a(100'000, nigh::placement::blocked(1), {.machine = &machine});
  std::atomic<long> sum{0};
  nigh::loop_options near_it;
  near_it.how = nigh::local_schedule(a);
  near_it.where = &forty;
  near_it.grain = 100;
  auto const loop = [&] { nigh::parallel_for(0, 1000, [&](int i) { sum += i; }, near_it); };
  loop();
  EXPECT_GT(with_ever_more_memory([&](auto const& try_to) {
              sum = 0;
              EXPECT_TRUE(try_to(loop));
              EXPECT_EQ(sum, 999 * 500);
            }),
            2);
}

TEST_F(NoMemory, LosesNoPairOfASortByKey) {
  with_ever_more_memory([&](auto const& try_to) {
    std::vector<int> keys(many_elements), values(many_elements);
    for (int i = 0; i < many_elements; ++i) {
      keys[static_cast<std::size_t>(i)] = i * 7919 % 10007;
      values[static_cast<std::size_t>(i)] = i;
    }
    auto const before = values;
    bool const done = try_to([&] { nigh::parallel_sort_by_key(keys, values, std::less<>(), &forty); });
    EXPECT_EQ(std::is_sorted(keys.begin(), keys.end()), done);
    EXPECT_EQ(values == before, !done);
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(keys[i], values[i] * 7919 % 10007);
  });
}

TEST_F(NoMemory, LosesNoElementOfAPartition) {
  auto const is_even = [](marked const& x) { return x.key % 2 == 0; };
  with_ever_more_memory([&](auto const& try_to) {
    auto v = many_marked();
    EXPECT_TRUE(try_to([&] { nigh::parallel_stable_partition(v, is_even, &forty); }));
    EXPECT_TRUE(std::is_partitioned(v.begin(), v.end(), is_even));
    EXPECT_TRUE(holds_each_once(v));
  });
  with_ever_more_memory([&](auto const& try_to) {
    auto v = many_marked();
    EXPECT_TRUE(try_to([&] { nigh::parallel_partition(v, is_even, &forty); }));
    EXPECT_TRUE(std::is_partitioned(v.begin(), v.end(), is_even));
    EXPECT_TRUE(holds_each_once(v));
  });
}

TEST_F(NoMemory, ComesBeforeAnythingIsRemoved) {
  with_ever_more_memory([&](auto const& try_to) {
    auto v = many_marked();
    auto end = v.end();
    bool const done = try_to([&] {
      end = nigh::parallel_remove_if(v, [](marked const& x) { return x.key % 2 == 0; }, {.where = &forty});
    });
    EXPECT_EQ(end - v.begin(), done ? many_elements / 2 : many_elements);
    int last = -1;
    for (auto at = v.begin(); at != end; ++at) {
      ASSERT_GT(at->place, last);  // in order, none of them moved from
      last = at->place;
    }
  });
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
