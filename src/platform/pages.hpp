// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pages of memory: mapping them, and saying and asking on which NUMA node they lie. Nodes are
// Linux's numbers. Binding goes through hwloc.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nigh/result.hpp>

namespace nigh::platform {

std::size_t page_bytes() noexcept;
std::size_t huge_page_bytes() noexcept;      // of a transparent huge page; 0: there are none
std::uint64_t available_bytes() noexcept;    // memory that could be had now, cgroup limit included

// Fresh zero pages, aligned to huge_page_bytes() when asked for huge pages.
result<std::byte*> map_pages(std::size_t bytes, bool huge);
void unmap_pages(std::byte* p, std::size_t bytes) noexcept;

enum class bind_policy { bind, interleave };

// Pages of the range that are not there yet will come from these nodes; with `move`, those that are
// there move. The range starts and ends on page borders.
result<void> bind_pages(std::byte* p, std::size_t bytes, std::span<int const> os_nodes,
                        bind_policy policy, bool move);

inline constexpr int no_page = -1;       // not touched yet
inline constexpr int unknown_page = -2;  // the kernel will not say

// The node of the page at each address.
result<std::vector<int>> nodes_of_pages(std::span<std::byte const* const> addresses);

}  // namespace nigh::platform
