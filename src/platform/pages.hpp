// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pages of memory: mapping them, and saying and asking on which NUMA node they lie. Nodes are
// Linux's numbers. Binding goes through hwloc.

#include <cstddef>
#include <cstdint>
#include <nigh/result.hpp>
#include <span>
#include <vector>

namespace nigh::platform {

std::size_t page_bytes() noexcept;
std::size_t huge_page_bytes() noexcept;  // of a transparent huge page; 0: there are none

// Fresh zero pages at a multiple of `alignment`, itself a multiple of page_bytes(). The system
// promises the memory; the pages come with the first touch.
result<std::byte*> map_pages(std::size_t bytes, std::size_t alignment);
void unmap_pages(std::byte* p, std::size_t bytes) noexcept;

// Whether the kernel may back a range with huge pages; without either call, the system's habit
// decides. Advice: a kernel that cannot follow it changes nothing.
enum class huge_pages { wanted, unwanted };
void advise(std::byte* p, std::size_t bytes, huge_pages advice) noexcept;

enum class bind_policy { bind, interleave };

// Missing pages of the range will come from these nodes; with `move`, present ones move there. The
// range starts and ends on page borders. A full node lets its pages go to the nearest one with
// room, so that the kernel kills nobody. Interleaving gives page n of the address space (not of the
// range) to the node n modulo their number, ascending.
result<void> bind_pages(std::byte* p, std::size_t bytes, std::span<int const> os_nodes,
                        bind_policy policy, bool move);

inline constexpr int no_page = -1;       // not touched yet
inline constexpr int unknown_page = -2;  // the kernel will not say

// The node of the page at each address. Asking touches no page and moves none, not even by
// automatic NUMA balancing.
result<std::vector<int>> nodes_of_pages(std::span<std::byte const* const> addresses);

}  // namespace nigh::platform
