// SPDX-License-Identifier: Apache-2.0
#include "platform/fence_everywhere.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "platform/small_file.hpp"

namespace nigh::platform {
namespace {

// Of linux/membarrier.h, which old systems have not.
constexpr int private_expedited = 1 << 3, register_private_expedited = 1 << 4;

// The 20th field of proc(5)'s stat, of which the second may contain anything. 0: unknown.
long threads_of_process() noexcept {
  std::array<char, 512> text;
  if (!read_small_file("/proc/self/stat", text)) return 0;
  char const* at = std::strrchr(text.data(), ')');
  for (int field = 2; at != nullptr && field < 20; ++field) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtol(at, nullptr, 10);
}

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

void prepare_fence_everywhere() noexcept {
  int const before = errno;
  if (threads_of_process() == 1) call(register_private_expedited);
  errno = before;
}

}  // namespace nigh::platform
