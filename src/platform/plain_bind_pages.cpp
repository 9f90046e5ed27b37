// SPDX-License-Identifier: Apache-2.0
// bind_pages() as bind_pages.cpp has it, by the system call alone: Debian's static hwloc cannot be
// linked into a shared library.

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "platform/pages.hpp"
#include "platform/refused.hpp"

namespace nigh::platform {

result<void> bind_pages(std::byte* p, std::size_t bytes, std::span<int const> os_nodes,
                        bind_policy policy, bool move) {
  constexpr unsigned word_bits = 8 * sizeof(unsigned long), most_nodes = 1024;
  std::array<unsigned long, most_nodes / word_bits> nodes{};
  for (int const node : os_nodes) {
    auto const bit = static_cast<unsigned>(node);
    if (node < 0 || bit >= most_nodes)
      return error{"cannot bind memory to NUMA node " + std::to_string(node)};
    nodes[bit / word_bits] |= 1UL << bit % word_bits;
  }
  // A node is preferred, so that a full one does not kill.
  int const how = policy == bind_policy::interleave ? MPOL_INTERLEAVE : MPOL_PREFERRED;
  // The kernel wants one more than the number of bits.
  if (::syscall(SYS_mbind, p, bytes, how, nodes.data(), most_nodes + 1UL,
                move ? MPOL_MF_MOVE : 0) != 0)
    return refused("mbind", errno);
  return {};
}

}  // namespace nigh::platform
