// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many cpus does a parallel region get?
//
// The paper: N = optimal + loadfactor x (maximum - optimal), where the load factor is the free part
// of the machine. When fewer are free, or others wait, the region takes what there is (shrinks) or
// waits (queues).

#include <algorithm>

namespace nigh::policy {

// How many threads a region can use: beyond `maximum` it gets no faster; up to `optimal` its
// speedup is within 20% of ideal. 1 <= optimal <= maximum.
struct ThreadDemand {
  int maximum = 1;
  int optimal = 1;

  bool operator==(ThreadDemand const&) const = default;
};

// The competition for the cpus at the moment of a decision.
struct ThreadSupply {
  int free = 0;
  int total = 1;    // of the machine
  int waiting = 0;  // other requests that want some of the free ones
};

// N of the paper, rounded. Waiting requests count as if they already had their parts of the free
// cpus.
constexpr int threads_wanted(ThreadDemand d, ThreadSupply s) noexcept {
  auto const extra = static_cast<long long>(d.maximum - d.optimal);
  auto const whole = 2LL * s.total * (1 + s.waiting);
  return d.optimal + static_cast<int>((2LL * s.free * extra + whole / 2) / whole);
}
static_assert(threads_wanted({16, 8}, {32, 32}) == 16);
static_assert(threads_wanted({16, 8}, {16, 32}) == 12);
static_assert(threads_wanted({16, 8}, {0, 32}) == 8);
static_assert(threads_wanted({16, 8}, {32, 32, 3}) == 10);

// Fewer free than wanted: shrink or queue? A region does not begin with less than this percentage
// of its optimum, or of the cpus it can hope for if those are fewer: 0 always takes what there is,
// 100 waits for all of it.
struct Scarcity {
  int least_percent = 0;
};

constexpr int fewest_threads(ThreadDemand d, int attainable, Scarcity s) noexcept {
  int const most = std::min(d.optimal, attainable);
  return std::max(1, (most * s.least_percent + 99) / 100);
}
static_assert(fewest_threads({16, 8}, 32, {0}) == 1);
static_assert(fewest_threads({16, 8}, 32, {50}) == 4);
static_assert(fewest_threads({16, 8}, 3, {100}) == 3);

struct ThreadCount {
  int wanted = 0;   // N
  int granted = 0;  // at most N and at most as many as are free; 0: wait
};

// While others wait for the free cpus, no region takes more than its part of them, unless it could
// not begin otherwise.
constexpr ThreadCount thread_count(ThreadDemand d, ThreadSupply s, int fewest) noexcept {
  int const wanted = threads_wanted(d, s);
  int const part = (s.free + s.waiting) / (1 + s.waiting);
  int const n = std::min({wanted, s.free, std::max(part, fewest)});
  return {wanted, n >= std::min(fewest, wanted) ? n : 0};
}
static_assert(thread_count({16, 16}, {32, 32}, 1).granted == 16);
static_assert(thread_count({32, 32}, {32, 32, 1}, 1).granted == 16);
static_assert(thread_count({16, 16}, {3, 32}, 1).granted == 3);
static_assert(thread_count({16, 16}, {3, 32}, 16).granted == 0);
static_assert(thread_count({16, 16}, {0, 32}, 1).granted == 0);

}  // namespace nigh::policy
