// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which threads of its team a thread without tasks asks, in which order, and how many tasks it
// takes: nearest first, by policy/stealing. Where a thread runs, the kernel says when it enters a
// region and now and then later; one that is not bound may have moved since. A wrong place only
// costs time.

#include <cstdint>

#include "openmp/tasks/team.hpp"
#include "platform/cpu_places.hpp"
#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/steal_order.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

// Two cpus that share nothing that is known share the host.
constexpr level common_level(platform::CpuPlace const& a, platform::CpuPlace const& b) noexcept {
  if (a.core == b.core) return level::core;
  if (a.l2 == b.l2) return level::l2;
  if (a.l3 == b.l3) return level::l3;
  if (a.domain == b.domain) return level::domain;
  return a.package == b.package ? level::package : level::host;
}

// Cpus; -1: nobody knows, and so the farthest.
NIGH_HIDDEN policy::Reach reach_of(int from, int to) noexcept;

// Looks where the team's threads are, for the next rounds of this one.
NIGH_HIDDEN void look_around(Member& me) noexcept;
// Its thread has ended.
NIGH_HIDDEN void forget_victims(Member& gone) noexcept;

// How many of so many tasks a thief at a barrier takes. Near the victim a few, for threads that
// make all tasks of a team are common, and each visit takes a cache line away from them.
constexpr std::uint32_t few_at_once = 4, most_at_once = 16;
constexpr std::uint32_t chunk_from(level where, level topmost, std::uint32_t waiting) noexcept {
  auto const half = (waiting + 1) / 2;
  return std::min(half, static_cast<std::uint32_t>(
                            policy::chunk_to_steal(policy::ChunkChoice::hierarchical, waiting,
                                                   where, topmost, few_at_once, most_at_once)));
}
static_assert(chunk_from(level::l3, level::host, 9) == 4);
static_assert(chunk_from(level::host, level::host, 9) == 5);
static_assert(chunk_from(level::core, level::package, 1) == 1);

}  // namespace nigh::openmp::tasks
