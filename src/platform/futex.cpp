// SPDX-License-Identifier: Apache-2.0
#include "platform/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace nigh::platform {
namespace {

static_assert(sizeof(sync::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void futex(sync::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

}  // namespace

void futex_wait(sync::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  futex(word, FUTEX_WAIT, expected);
}
void futex_wake_one(sync::atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, 1); }
void futex_wake_all(sync::atomic<std::uint32_t>& word) noexcept {
  futex(word, FUTEX_WAKE, INT_MAX);
}

}  // namespace nigh::platform
