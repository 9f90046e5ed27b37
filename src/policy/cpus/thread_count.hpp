// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many cpus does a parallel region get?
//
// The paper: N = optimal + loadfactor x (maximum - optimal), where the load factor is the free part
// of the machine. When fewer are free, or others wait, the region takes what there is (shrinks) or
// waits (queues).

#include <algorithm>
#include <optional>

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

// Some free cpus are busy with external load: is a team better off on the quiet ones alone, or
// unbound on all of them?
//
// On the quiet ones alone, if they are as many as the region would get anyway: its maximum, or its
// part of the host. Beside external load, a bound team is as slow as its slowest thread, which has
// half a cpu; if the team is unbound, the system moves threads to cpus with time to spare.

// `attainable`: cpus that the region can hope for.
constexpr bool quiet_cpus_suffice(int quiet, ThreadDemand d, int attainable) noexcept {
  return quiet > 0 && quiet >= std::min(d.maximum, attainable);
}
static_assert(quiet_cpus_suffice(3, {8, 4}, 3) && quiet_cpus_suffice(3, {2, 1}, 8));
static_assert(!quiet_cpus_suffice(1, {2, 1}, 2) && !quiet_cpus_suffice(0, {1, 1}, 1));

// How many threads does a quota of cpu time have work for?
// docs/decisions/0016-a-quota-is-a-bound.md has the measurements.

// A quota is rounded up if rounding down would lose more than a tenth of a cpu: the threads then
// stop for a part of each period, and are still faster. At least one.
constexpr int whole_cpus(double quota) noexcept {
  constexpr double tenth = 0.1 + 1e-9;
  constexpr int most = 1 << 20;
  if (!(quota > 1)) return 1;  // also for a quota that is no number
  if (quota >= most) return most;
  int const down = static_cast<int>(quota);
  return quota - down > tenth ? down + 1 : down;
}
static_assert(whole_cpus(0) == 1);
static_assert(whole_cpus(0.05) == 1);
static_assert(whole_cpus(1) == 1);
static_assert(whole_cpus(1.1) == 1);
static_assert(whole_cpus(1.11) == 2);
static_assert(whole_cpus(1.5) == 2);
static_assert(whole_cpus(2) == 2);
static_assert(whole_cpus(1e300) == 1 << 20);

// How many of so many cpus a program with this quota keeps busy.
constexpr int cpus_within(std::optional<double> quota, int cpus) noexcept {
  return quota ? std::min(cpus, whole_cpus(*quota)) : cpus;
}
static_assert(cpus_within({}, 8) == 8);
static_assert(cpus_within(2.5, 8) == 3);
static_assert(cpus_within(16, 8) == 8);

}  // namespace nigh::policy
