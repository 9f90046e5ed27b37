// SPDX-License-Identifier: Apache-2.0
#pragma once
// Asking the kernel where many pages lie, a bounded number at a time.

#include <algorithm>
#include <cstddef>
#include <nigh/result.hpp>
#include <span>
#include <vector>

#include "platform/pages.hpp"

namespace nigh::memory {

// Calls visit(offset, node) for each base page of [begin, begin + bytes), which starts at a page
// border; node as in platform::nodes_of_pages. Stops at the kernel's first refusal.
template <class Visit>
result<void> visit_pages(std::byte const* begin, std::size_t bytes, Visit visit) {
  constexpr std::size_t at_once = 16384;
  std::size_t const page = platform::page_bytes();
  std::vector<std::byte const*> addresses;
  for (std::size_t at = 0; at < bytes;) {
    addresses.clear();
    for (std::size_t p = at; p < bytes && addresses.size() < at_once; p += page)
      addresses.push_back(begin + p);
    auto const nodes = platform::nodes_of_pages(addresses);
    if (!nodes) return nodes.to_error();
    for (int const node : *nodes) {
      visit(at, node);
      at += page;
    }
  }
  return {};
}

}  // namespace nigh::memory
