// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fork: is a task made at all, and how many of the waiting ones may others have?

#include <cstdint>

namespace nigh::policy {

// This many of a stack's oldest tasks are offered even when no thief has asked yet: a thief may
// come when the owner is deep in a function that forks no more and so does not see the request.
// Deep recursion pays for it only near its root; a larger number would cost more there than it
// brings.
inline constexpr std::uint32_t tasks_kept_shared = 4;

// Of the tasks that only their owner can reach, when a thief has asked: the older half, rounded up,
// so that a single one is given away and the newest stay where pops cost nothing.
constexpr std::uint32_t tasks_to_share(std::uint32_t kept_private) noexcept {
  return kept_private - kept_private / 2;
}
static_assert(tasks_to_share(0) == 0 && tasks_to_share(1) == 1 && tasks_to_share(7) == 4);

// The cutoffs of HotSLAW. 0: none.
struct ForkCutoffs {
  int depth = 0;  // levels below the root from which on a task forks no more
  int queue = 0;  // tasks that wait in the worker's stack
};

constexpr bool forks(std::uint32_t depth, std::uint32_t waiting, ForkCutoffs cutoffs) noexcept {
  constexpr auto below = [](std::uint32_t n, int cutoff) {
    return cutoff <= 0 || n < static_cast<std::uint32_t>(cutoff);
  };
  return below(depth, cutoffs.depth) && below(waiting, cutoffs.queue);
}
static_assert(forks(1000, 1000, {}));
static_assert(forks(1, 9, {2, 10}) && !forks(2, 0, {2, 10}) && !forks(0, 10, {2, 10}));

}  // namespace nigh::policy
