// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many workers does a runtime get that was asked for a number by NIGH_WORKERS?
//
// On a machine that the process may use as a whole, as many as asked for, also more than it has
// cpus: somebody tries a larger machine's program on a laptop. Where something holds the process to
// less (a container's quota or cpuset, taskset, a batch system), the number mostly is the whole
// machine's, out of a script, and the process takes what is there; unless the number comes with the
// word that it is meant. docs/decisions/0025-more-workers-than-cpus.md.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "policy/cpus/thread_count.hpp"

namespace nigh::policy {

struct WorkersAsked {
  int number = 1;
  bool oversubscribe = false;  // it is meant, whatever there is
};

struct CpusThere {
  int present = 1;              // of the machine
  int allowed = 1;              // that the process may use, at most `present`
  std::optional<double> quota;  // of its cgroup, in cpus' worth of time
};

enum class WorkersHeldBy : std::uint8_t { nothing, cpus, quota };

struct WorkerCount {
  int workers = 1;
  WorkersHeldBy held_by = WorkersHeldBy::nothing;

  bool operator==(WorkerCount const&) const = default;
};

constexpr WorkerCount worker_count(WorkersAsked asked, CpusThere there) noexcept {
  int const useful = cpus_within(there.quota, there.allowed);
  if (asked.number <= useful || asked.oversubscribe) return {asked.number};
  if (useful < there.allowed) return {useful, WorkersHeldBy::quota};
  if (there.allowed < there.present) return {useful, WorkersHeldBy::cpus};
  return {asked.number};
}
static_assert(worker_count({3}, {4, 4, {}}) == WorkerCount{3});
static_assert(worker_count({16}, {4, 4, {}}) == WorkerCount{16});
static_assert(worker_count({16}, {64, 4, {}}) == WorkerCount{4, WorkersHeldBy::cpus});
static_assert(worker_count({16}, {64, 64, 2.0}) == WorkerCount{2, WorkersHeldBy::quota});
static_assert(worker_count({16}, {64, 4, 2.0}) == WorkerCount{2, WorkersHeldBy::quota});
static_assert(worker_count({16}, {64, 4, 8.0}) == WorkerCount{4, WorkersHeldBy::cpus});
static_assert(worker_count({16, true}, {64, 4, 2.0}) == WorkerCount{16});

}  // namespace nigh::policy
