// SPDX-License-Identifier: Apache-2.0
#include "platform/host.hpp"

#include <cerrno>
#include <cstring>
#include <string>

namespace nigh::platform {
namespace {

result<hwloc_topology_t> load() {
  hwloc_topology_t host = nullptr;
  if (hwloc_topology_init(&host) == 0) {
    if (hwloc_topology_set_flags(host, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
        hwloc_topology_load(host) == 0) {
      // From here on only read, by any thread: distances are all that hwloc updates without being
      // asked.
      hwloc_topology_refresh(host);
      return host;
    }
    hwloc_topology_destroy(host);
  }
  return error{std::string("cannot read this host's topology: ") + std::strerror(errno)};
}

}  // namespace

result<hwloc_topology_t> host_hwloc() {
  static result<hwloc_topology_t> const host = load();
  return host;
}

}  // namespace nigh::platform
