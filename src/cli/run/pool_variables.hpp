// SPDX-License-Identifier: Apache-2.0
#pragma once
// Thread pools whose size an environment variable sets: OpenMP's, and those that get no cpus from a
// coordinator (settings/thread_pools.hpp has the table).

#include <optional>
#include <span>
#include <string_view>

#include "cli/run/plan.hpp"

namespace nigh::cli {

struct PoolVariable {
  std::string_view name;
  std::string_view pool;  // for people
  // The pool takes its size from OMP_NUM_THREADS when its own variable is not set.
  bool hears_openmp = false;
};
std::span<PoolVariable const> pool_variables();

// A cgroup's quota, as it concerns the program.
struct QuotaHere {
  std::optional<double> quota = {};  // cpus' worth of time; empty: none
  int cpus = 1;                      // that the program may use
  int ranks = 1;                     // of its job on this host, which share the quota

  // Threads that the quota has time for. With as many as cpus, it is no bound.
  int threads() const;
  bool binds() const { return threads() < cpus; }
};

// Where the quota binds, each pool gets a size within it, unless the plan or our environment has
// set one; notes say so, and name sizes beyond the quota.
void keep_pools_within(QuotaHere const& here, Inherited const& inherited, Plan& plan);

}  // namespace nigh::cli
