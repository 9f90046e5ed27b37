// SPDX-License-Identifier: Apache-2.0
#pragma once
// ChunkSize: how many tasks does one visit to a queue or a stack take, how many does an owner let
// others have, and is a task made at all?

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nigh/steal_choice.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <string_view>

#include "base/choice_names.hpp"

namespace nigh::policy {

inline constexpr std::size_t largest_chunk = 32;

// From the queue of one's own group: half of a fair share, so that a visit is paid once for many
// tasks while the queue is long, and single tasks remain to even out the end (the rule of guided
// self-scheduling). At least one.
constexpr std::size_t chunk_of_own_queue(std::size_t waiting, std::size_t workers) noexcept {
  return std::clamp(waiting / (2 * std::max<std::size_t>(workers, 1)), std::size_t{1},
                    largest_chunk);
}

// From another domain's queue or a sibling's buffer: one. The rest stays with the workers it is
// nearer to, if they come back in time.
constexpr std::size_t chunk_stolen() noexcept { return 1; }

static_assert(chunk_of_own_queue(1, 8) == 1 && chunk_of_own_queue(64, 2) == 16);
static_assert(chunk_of_own_queue(1 << 20, 2) == largest_chunk);

using ChunkChoice = chunk_choice;

inline constexpr std::array<std::string_view, 3> chunk_choice_names{"one", "half", "hierarchical"};

constexpr std::string_view to_string(ChunkChoice c) noexcept {
  return chunk_choice_names[static_cast<std::size_t>(c)];
}

constexpr std::optional<ChunkChoice> chunk_choice_from_string(std::string_view name) noexcept {
  return choice_named<ChunkChoice>(chunk_choice_names, name);
}
static_assert(chunk_choice_from_string(to_string(ChunkChoice::half)) == ChunkChoice::half);

constexpr bool takes_half(ChunkChoice choice, level where, level topmost) noexcept {
  return choice == ChunkChoice::half || (choice == ChunkChoice::hierarchical && where >= topmost);
}

// From a worker's task stack at the level `where`: hierarchical chunk selection (paper: HotSLAW)
// takes `fixed` tasks where another visit is cheap, and half from the topmost level on (see
// VictimPlan::topmost), rounded up, so that a single task is not left behind. At least one of the
// waiting tasks, never more than `most`.
constexpr std::size_t chunk_to_steal(ChunkChoice choice, std::size_t waiting, level where,
                                     level topmost, std::size_t fixed = 1,
                                     std::size_t most = largest_chunk) noexcept {
  std::size_t const wanted = takes_half(choice, where, topmost) ? waiting - waiting / 2 : fixed;
  return std::min(std::clamp(wanted, std::size_t{1}, std::max<std::size_t>(most, 1)), waiting);
}

// How many tasks must wait for a visit to take any, where a fixed number is taken whole or not at
// all.
constexpr std::size_t least_to_steal(ChunkChoice choice, level where, level topmost,
                                     std::size_t fixed) noexcept {
  return takes_half(choice, where, topmost) ? 1 : std::max<std::size_t>(fixed, 1);
}

static_assert(least_to_steal(ChunkChoice::hierarchical, level::l3, level::host, 4) == 4);
static_assert(least_to_steal(ChunkChoice::hierarchical, level::host, level::host, 4) == 1);
static_assert(chunk_to_steal(ChunkChoice::hierarchical, 9, level::l3, level::host) == 1);
static_assert(chunk_to_steal(ChunkChoice::hierarchical, 9, level::host, level::host) == 5);
static_assert(chunk_to_steal(ChunkChoice::half, 0, level::host, level::host) == 0);

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
