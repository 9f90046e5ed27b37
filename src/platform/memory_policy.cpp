// SPDX-License-Identifier: Apache-2.0
#include "platform/memory_policy.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace nigh::platform {
namespace {

int mode_of(MemoryPolicy::Kind kind) {
  switch (kind) {
    case MemoryPolicy::Kind::interleave:
      return MPOL_INTERLEAVE;
    case MemoryPolicy::Kind::bind:
      return MPOL_BIND;
    case MemoryPolicy::Kind::preferred:
      return MPOL_PREFERRED;
    case MemoryPolicy::Kind::first_touch:
      break;
  }
  return MPOL_DEFAULT;
}

}  // namespace

result<void> set_memory_policy(MemoryPolicy const& policy) {
  constexpr std::size_t word_bits = 8 * sizeof(unsigned long);
  std::size_t highest = 0;
  for (int const node : policy.os_nodes)
    highest = std::max(highest, static_cast<std::size_t>(node));
  std::vector<unsigned long> mask(highest / word_bits + 1, 0);
  for (int const node : policy.os_nodes)
    mask[static_cast<std::size_t>(node) / word_bits] |=
        1UL << static_cast<std::size_t>(node) % word_bits;
  // The kernel reads one bit less than it is told.
  bool const none = policy.kind == MemoryPolicy::Kind::first_touch;
  if (::syscall(SYS_set_mempolicy, mode_of(policy.kind), none ? nullptr : mask.data(),
                none ? 0UL : mask.size() * word_bits + 1) == 0)
    return {};
  std::string why = std::strerror(errno);
  if (errno == ENOSYS) why += " (a kernel without NUMA support, or a sandbox)";
  if (errno == EPERM) why += " (a sandbox or container forbids it)";
  return error{"set_mempolicy refused: " + why};
}

}  // namespace nigh::platform
