// SPDX-License-Identifier: Apache-2.0
#include "platform/futex.hpp"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace nigh::platform {
namespace {

static_assert(sizeof(sync::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// errno stays: a program that waits in an OpenMP runtime finds it as it was.
void futex(sync::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           timespec const* most = nullptr) noexcept {
  int const before = errno;
  ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, most, nullptr, 0);
  errno = before;
}
timespec time_of(std::int64_t ns) noexcept {
  constexpr std::int64_t second_ns = 1'000'000'000;
  return {ns / second_ns, ns % second_ns};
}

}  // namespace

void futex_wait(sync::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  futex(word, FUTEX_WAIT, expected);
}
void futex_wait_for(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                    std::int64_t most_ns) noexcept {
  timespec const most = time_of(most_ns);
  futex(word, FUTEX_WAIT, expected, &most);
}
void futex_wake_one(sync::atomic<std::uint32_t>& word) noexcept { futex(word, FUTEX_WAKE, 1); }
void futex_wake_all(sync::atomic<std::uint32_t>& word) noexcept {
  futex(word, FUTEX_WAKE, INT_MAX);
}

void shared_futex_wait(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t most_ns) noexcept {
  timespec const most = time_of(most_ns);
  ::syscall(SYS_futex, &word, FUTEX_WAIT, expected, &most, nullptr, 0);
}
void shared_futex_wake_all(sync::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace nigh::platform
