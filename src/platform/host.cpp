// SPDX-License-Identifier: Apache-2.0
#include "platform/host.hpp"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <type_traits>

#include "base/published.hpp"
#include "platform/affinity.hpp"
#include "platform/thread.hpp"

namespace nigh::platform {
namespace {

constinit base::Published<std::remove_pointer_t<hwloc_topology_t>> host_once_loaded;

// hwloc has a lock while it loads, too: a child of fork() would have it for ever, so a fork waits
// until it is loaded. Registered before all others, so that a fork takes this lock last: threads
// that have others come here.
constinit std::mutex loading;
[[gnu::constructor(101)]] void keep_from_forks() {
  at_fork([] { loading.lock(); }, [] { loading.unlock(); }, [] { loading.unlock(); });
}

result<hwloc_topology_t> load() {
  // Where a sandbox refuses to say, hwloc asks again without end, with larger and larger masks.
  if (affinity_of_this_thread().empty())
    return error{std::string("the system does not say on which cpus this process may run: ") +
                 std::strerror(errno)};
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
  if (auto* const known = host_once_loaded.get()) return known;
  std::lock_guard const guard(loading);
  if (auto* const known = host_once_loaded.get()) return known;
  auto const mine = load();
  if (mine) host_once_loaded.set(*mine);
  return mine;
}

}  // namespace nigh::platform
