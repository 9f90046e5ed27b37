// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sleeping until a word changes.

#include <cstdint>

#include "base/atomic.hpp"

namespace nigh::platform {

// Sleeps while word == expected, until woken. May return early, so callers loop.
void futex_wait(sync::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;
// The same, for at most that long.
void futex_wait_for(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::int64_t most_ns) noexcept;

void futex_wake_one(sync::atomic<std::uint32_t>& word) noexcept;
void futex_wake_all(sync::atomic<std::uint32_t>& word) noexcept;

// The same for words in memory that processes share, and for at most that long.
void shared_futex_wait(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t most_ns) noexcept;
void shared_futex_wake_all(sync::atomic<std::uint32_t>& word) noexcept;

}  // namespace nigh::platform
