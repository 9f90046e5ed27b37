// SPDX-License-Identifier: Apache-2.0
#include "memory/apply.hpp"

#include <span>
#include <vector>

#include "memory/first_touch.hpp"
#include "platform/pages.hpp"

namespace nigh::memory {
namespace {

int os_node_of(topology const& machine, int domain) {
  return machine.domains()[static_cast<std::size_t>(domain)].os_node;
}

result<void> bind_in_turn(policy::PlacementMap const& map, std::byte* base,
                          topology const& machine) {
  std::vector<int> nodes;
  for (int const d : map.domains()) nodes.push_back(os_node_of(machine, d));
  return platform::bind_pages(base, map.mapped_bytes(), nodes, platform::bind_policy::interleave,
                              false);
}

result<void> bind_pieces(policy::PlacementMap const& map, std::byte* base,
                         topology const& machine) {
  if (map.runs(most_bound_pieces) > most_bound_pieces)
    return error{"more than " + std::to_string(most_bound_pieces) +
                 " pieces, too many for the kernel to bind one by one"};
  for (std::size_t at = 0; at < map.mapped_bytes();) {
    auto const run = map.run_from(at);
    int const node = os_node_of(machine, run.domain);
    auto const bound =
        platform::bind_pages(base + at, run.bytes, {&node, 1}, platform::bind_policy::bind, false);
    if (!bound) return bound;
    at += run.bytes;
  }
  return {};
}

}  // namespace

std::size_t alignment_for(policy::PlacementMap const& map, placement rule) {
  // The kernel deals out pages by their address, beginning with its first node at 0.
  bool const in_turn = rule.how() == placement::kind::interleave;
  return map.page_bytes() * (in_turn ? map.domains().size() : 1);
}

std::string apply_placement(policy::PlacementMap const& map, placement rule, std::byte* base,
                            topology const& machine) {
  if (rule.how() == placement::kind::first_touch) return {};
  bool const in_turn = rule.how() == placement::kind::interleave;
  bool const small_pages = map.page_bytes() == platform::page_bytes();
  auto const all_small = [&] {
    platform::advise(base, map.mapped_bytes(), platform::huge_pages::unwanted);
  };
  // One huge page, given unasked, would swallow pieces that are smaller. Bound pieces are mappings
  // of their own, and no huge page crosses these.
  if (in_turn && small_pages) all_small();
  auto const bound = in_turn ? bind_in_turn(map, base, machine) : bind_pieces(map, base, machine);
  if (bound) return {};
  if (small_pages) all_small();
  auto const trouble = touch_from_domains(map, base, machine);
  return bound.message() + (trouble.empty()
                                ? "; pages were first touched from their domains instead"
                                : "; first touch from the domains instead fell short: " + trouble);
}

}  // namespace nigh::memory
