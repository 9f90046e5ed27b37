// SPDX-License-Identifier: Apache-2.0
#pragma once
// How often a cgroup's quota of cpu time has stopped this process and its children.

#include <filesystem>
#include <optional>

namespace bench {

// Counted by the kernel since the cgroup was made: periods in which a member ran, and those of them
// in which the quota ran out.
struct Throttling {
  long periods = 0, throttled = 0;

  Throttling since(Throttling const& before) const noexcept {
    return {periods - before.periods, throttled - before.throttled};
  }
};

// Of the nearest cgroup that has a quota, from this process's own upwards; nothing: there is none.
// Below `root`, which is "/" except in tests.
std::optional<Throttling> read_throttling(std::filesystem::path const& root = "/");

}  // namespace bench
