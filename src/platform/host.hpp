// SPDX-License-Identifier: Apache-2.0
#pragma once
// This host as hwloc knows it.

#include <hwloc.h>

#include <nigh/result.hpp>

namespace nigh::platform {

// hwloc's topology of this host with disallowed cpus included, loaded once and kept until the
// process ends; may be read by any thread.
result<hwloc_topology_t> host_hwloc();

}  // namespace nigh::platform
