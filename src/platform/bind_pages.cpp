// SPDX-License-Identifier: Apache-2.0
// Through hwloc. plain_bind_pages.cpp does the same without, for libraries that cannot have hwloc
// in them.

#include <hwloc.h>

#include <cerrno>
#include <memory>
#include <string>
#include <type_traits>

#include "platform/host.hpp"
#include "platform/pages.hpp"
#include "platform/refused.hpp"

namespace nigh::platform {
namespace {

struct free_bitmap {
  void operator()(hwloc_bitmap_t b) const noexcept { hwloc_bitmap_free(b); }
};
using bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, free_bitmap>;

}  // namespace

result<void> bind_pages(std::byte* p, std::size_t bytes, std::span<int const> os_nodes,
                        bind_policy policy, bool move) {
  auto const host = host_hwloc();
  if (!host) return host.to_error();
  bitmap const nodes(hwloc_bitmap_alloc());
  for (int node : os_nodes)
    if (node < 0 || hwloc_bitmap_set(nodes.get(), static_cast<unsigned>(node)) != 0)
      return error{"cannot bind memory to NUMA node " + std::to_string(node)};
  // Without HWLOC_MEMBIND_STRICT a node is preferred, so that a full one does not kill.
  int const flags = HWLOC_MEMBIND_BYNODESET | (move ? HWLOC_MEMBIND_MIGRATE : 0);
  auto const how = policy == bind_policy::bind ? HWLOC_MEMBIND_BIND : HWLOC_MEMBIND_INTERLEAVE;
  if (hwloc_set_area_membind(*host, p, bytes, nodes.get(), how, flags) != 0)
    return refused("mbind", errno);
  return {};
}

}  // namespace nigh::platform
