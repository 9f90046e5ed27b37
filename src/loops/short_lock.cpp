// SPDX-License-Identifier: Apache-2.0
// The sleep of threads that wait for a short_lock.

#include <nigh/detail/short_lock.hpp>

#include "platform/futex.hpp"

namespace nigh::detail {

void sleep_on(sync::atomic<std::uint32_t>& word, std::uint32_t value) noexcept { platform::futex_wait(word, value); }
void wake_one(sync::atomic<std::uint32_t>& word) noexcept { platform::futex_wake_one(word); }

}  // namespace nigh::detail
