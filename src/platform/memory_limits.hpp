// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much memory can this process get?

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace nigh::platform {

inline constexpr std::uint64_t no_limit = UINT64_MAX;

// Memory that could be had now: what the kernel calls available, plus free swap, and no more than
// this process's cgroups leave. no_limit when the system does not say.
std::uint64_t available_bytes();

// Memory that this process holds already and that no file backs: heap, stacks, touched arrays.
std::uint64_t anonymous_bytes();

// The memory that the cgroups (v1 and v2) leave to a process whose /proc/self/cgroup reads like
// this, with `mount` in place of /sys/fs/cgroup. Every cgroup up to the mounted root counts: in a
// container, that is often the only visible one. Page cache that is not in active use counts as
// free.
std::uint64_t available_in_cgroups(std::string_view self_cgroup,
                                   std::filesystem::path const& mount);

}  // namespace nigh::platform
