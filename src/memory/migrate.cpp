// SPDX-License-Identifier: Apache-2.0
// Moving pages from one domain to another.

#include <cstdint>
#include <nigh/array.hpp>
#include <string>

#include "memory/locate.hpp"
#include "platform/pages.hpp"

namespace nigh {

result<void> migrate_bytes(std::span<std::byte const> range, int domain, topology const& machine) {
  if (!machine.is_this_host())
    return error{"migrate: the topology is of another machine, memory cannot be moved there"};
  auto const domains = machine.domains().size();
  if (domain < 0 || static_cast<std::size_t>(domain) >= domains)
    return error{"migrate: there is no domain " + std::to_string(domain) + ", the machine has " +
                 std::to_string(domains)};
  if (range.empty() || domains == 1) return {};

  int const home = machine.nearest_memory(domain);
  int const node = machine.domains()[static_cast<std::size_t>(home)].os_node;
  // Pages of the range, which may begin and end inside one.
  std::uintptr_t const page = platform::page_bytes();
  auto const first = reinterpret_cast<std::uintptr_t>(range.data()) & ~(page - 1);
  auto const behind =
      (reinterpret_cast<std::uintptr_t>(range.data()) + range.size() + page - 1) & ~(page - 1);
  auto* const begin = reinterpret_cast<std::byte*>(first);
  auto const moved =
      platform::bind_pages(begin, behind - first, {&node, 1}, platform::bind_policy::bind, true);
  if (!moved) return error{"migrate: " + moved.message()};

  // The kernel reports success when it moved the pages it could.
  std::size_t pages = 0, left = 0;
  auto const asked = memory::visit_pages(begin, behind - first, [&](std::size_t, int at) {
    ++pages;
    if (at >= 0 && at != node) ++left;
  });
  if (asked && left > 0)
    return error{"migrate: only " + std::to_string(pages - left) + " of " + std::to_string(pages) +
                 " pages moved to domain " + std::to_string(domain)};
  return {};
}

}  // namespace nigh
