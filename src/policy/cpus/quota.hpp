// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many threads does a quota of cpu time have work for?
// docs/decisions/0016-a-quota-is-a-bound.md has the measurements.

#include <algorithm>
#include <optional>

namespace nigh::policy {

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
