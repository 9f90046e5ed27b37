// SPDX-License-Identifier: Apache-2.0
#pragma once
// A machine as thieves see it: who is how near, and what asking there costs.

#include <cmath>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <vector>

#include "policy/stealing/regular_plan.hpp"
#include "sim/machine.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

// There and back where it says so; a lock is granted, and free again, after one way.
struct RungCosts {
  std::string name;
  Time probe = 0;
  Time lock = 0;
  Time copy = 0;
  Time unlock = 0;
  double ns_per_byte = 0;
  bool crosses_hosts = false;  // and so keeps both interfaces busy

  Time copy_of(double bytes) const noexcept {
    return copy + static_cast<Time>(std::llround(bytes * ns_per_byte));
  }
  // From the probe on, when nobody is in the way.
  Time steal_of(double bytes) const noexcept { return probe + lock + copy_of(bytes) + unlock; }
};

struct StealMachine {
  policy::RegularPlan plan;
  std::vector<RungCosts> rungs;  // [rung of the plan]
  int per_host = 1;              // workers
  Time interface_ns = 0;
  std::optional<Time> spawn_ns{};  // of a task; none: what its program says

  int workers() const noexcept { return plan.workers; }
  int hosts() const noexcept { return (workers() + per_host - 1) / per_host; }
  // The cost for an owner to lock its own queue: nothing travels.
  Time own_lock_ns() const noexcept {
    return rungs.empty() ? 0 : (rungs.front().lock + rungs.front().unlock) / 2;
  }
};

// One worker a cpu: on all of the machine, or on as few whole groups as hold `workers`.
result<StealMachine> steal_machine(Machine const& machine, int workers = 0);

}  // namespace nigh::sim
