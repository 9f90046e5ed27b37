// SPDX-License-Identifier: Apache-2.0
#include "platform/fence_everywhere.hpp"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace nigh::platform {
namespace {

// Of linux/membarrier.h, which old systems have not.
constexpr int private_expedited = 1 << 3, register_private_expedited = 1 << 4;

bool call(int command) noexcept { return ::syscall(SYS_membarrier, command, 0) == 0; }

}  // namespace

bool fence_everywhere() noexcept {
  int const before = errno;
  // Refused for want of a registration.
  bool const has = call(private_expedited) ||
                   (errno == EPERM && call(register_private_expedited) && call(private_expedited));
  errno = before;
  return has;
}

// The directory has a link to each thread's.
void prepare_fence_everywhere() noexcept {
  int const before = errno;
  struct stat threads{};
  if (::stat("/proc/self/task", &threads) == 0 && threads.st_nlink == 3)
    call(register_private_expedited);
  errno = before;
}

}  // namespace nigh::platform
