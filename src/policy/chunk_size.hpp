// SPDX-License-Identifier: Apache-2.0
#pragma once
// ChunkSize: how many tasks does one visit to a queue take?

#include <algorithm>
#include <cstddef>

namespace nigh::policy {

inline constexpr std::size_t largest_chunk = 32;

// From the queue of one's own domain: half of a fair share, so that a visit is paid once for many
// tasks while the queue is long, and single tasks are left to even out the end (the rule of guided
// self-scheduling). At least one.
constexpr std::size_t chunk_at_home(std::size_t waiting, std::size_t workers) noexcept {
  return std::clamp(waiting / (2 * std::max<std::size_t>(workers, 1)), std::size_t{1},
                    largest_chunk);
}

// From somebody else, be it another domain or a sibling's ring: one. What is left stays with those
// it is nearer to, if they come back in time.
constexpr std::size_t chunk_stolen() noexcept { return 1; }

static_assert(chunk_at_home(1, 8) == 1 && chunk_at_home(64, 2) == 16);
static_assert(chunk_at_home(1 << 20, 2) == largest_chunk);

}  // namespace nigh::policy
