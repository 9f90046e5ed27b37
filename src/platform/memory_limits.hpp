// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much memory there is to be had.

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace nigh::platform {

inline constexpr std::uint64_t no_limit = UINT64_MAX;

// Memory that could be had now: what the kernel calls available, free swap, and not more than the
// cgroups this process is in leave. no_limit when the system does not say.
std::uint64_t available_bytes();

// Memory this process holds already and no file stands behind: heap, stacks, touched arrays.
std::uint64_t anonymous_bytes();

// What the memory limits of the cgroups (v1 and v2) leave to a process whose /proc/self/cgroup
// reads like this, where `mount` stands for /sys/fs/cgroup. Every cgroup up to the mounted root
// counts: in a container, that is often the only one that can be seen. Page cache that is not in
// active use can be had, too.
std::uint64_t available_in_cgroups(std::string_view self_cgroup,
                                   std::filesystem::path const& mount);

}  // namespace nigh::platform
