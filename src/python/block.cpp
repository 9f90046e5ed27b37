// SPDX-License-Identifier: Apache-2.0
// Placed memory for numpy's arrays, and where any memory lies.

#include <cstdint>
#include <exception>
#include <new>
#include <nigh/array.hpp>
#include <nigh/topology.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "memory/live_arrays.hpp"
#include "memory/locate.hpp"
#include "platform/pages.hpp"
#include "python/nigh-python.h"
#include "topology/builder.hpp"

using nigh::placement;

namespace {

std::optional<nigh::topology>& given() {
  static auto& one =
      *new std::optional<nigh::topology>;  // arrays may outlive the program's statics
  return one;
}

}  // namespace

// In place of that which asks hwloc (src/topology/load.cpp), for all of this library.
nigh::topology const& nigh::this_host() {
  NIGH_ASSERT(given(), "nigh_use_domains() comes first");
  return *given();
}

struct nigh_block {
  nigh::detail::placed_block block;
};

namespace {

// The complaint of the thread's last call.
char const* keep(std::string text) {
  static thread_local std::string last;
  last = std::move(text);
  return last.c_str();
}

placement rule_of(int kind, std::size_t value) {
  switch (static_cast<placement::kind>(kind)) {
    case placement::kind::first_touch:
      return placement::first_touch();
    case placement::kind::interleave:
      return placement::interleave();
    case placement::kind::bind:
      return placement::bind(value <= INT32_MAX ? static_cast<int>(value) : -1);
    case placement::kind::blocked:
      return placement::blocked(value);
    case placement::kind::cyclic:
      return placement::cyclic(value);
  }
  throw std::invalid_argument("placement: there is no kind " + std::to_string(kind));
}

// From the border of the page that holds `begin` to that behind the last byte.
std::pair<std::byte const*, std::size_t> whole_pages(void const* begin, std::size_t bytes) {
  auto const page = nigh::platform::page_bytes();
  auto const* const first = static_cast<std::byte const*>(begin);
  auto const before = reinterpret_cast<std::uintptr_t>(first) % page;
  return {first - before, (before + bytes + page - 1) / page * page};
}

// By the rule of a placed array; -1: there is none.
int wanted_domain(std::byte const* page) {
  auto const* const array = nigh::memory::array_at(page);
  return array == nullptr ? -1 : array->map.domain_of(static_cast<std::size_t>(page - array->data));
}

void count_page(std::byte const* page, int node, std::size_t* pages_of_domain, nigh_pages& found) {
  ++found.pages;
  if (node == nigh::platform::no_page) {
    ++found.untouched;
  } else if (node == nigh::platform::unknown_page) {
    ++found.unknown;
  } else {
    int const domain = nigh::this_host().domain_of_os_node(node);
    int const wanted = wanted_domain(page);
    if (domain >= 0)
      ++pages_of_domain[domain];
    else
      ++found.elsewhere;
    if (wanted >= 0 && domain != wanted) ++found.misplaced;
  }
}

}  // namespace

nigh_block* nigh_block_make(size_t count, size_t element_bytes, int kind, size_t value,
                            int huge_pages, int* error, char const** why) {
  enum { wrong_argument = 1, no_memory, refused };
  auto const fails = [&](int how, char const* text) {
    *error = how;
    *why = keep(text);
    return nullptr;
  };
  try {
    return new nigh_block{
        {count, element_bytes, rule_of(kind, value), {.huge_pages = huge_pages != 0}}};
  } catch (std::logic_error const& wrong) {
    return fails(wrong_argument, wrong.what());
  } catch (std::bad_alloc const& none) {
    return fails(no_memory, none.what());
  } catch (std::exception const& other) {
    return fails(refused, other.what());
  }
}

void nigh_block_free(nigh_block* block) { delete block; }

void* nigh_block_data(nigh_block* block) { return block->block.data(); }

char const* nigh_block_note(nigh_block* block) { return block->block.note().c_str(); }

int nigh_use_domains(size_t count, int const* os_nodes, uint64_t const* memory_bytes,
                     int const* nearest_memory, size_t const* cpu_counts, int const* cpus) {
  try {
    std::vector<nigh::domain> domains;
    for (size_t i = 0; i < count; ++i) {
      domains.push_back(
          {static_cast<int>(i), os_nodes[i], {cpus, cpus + cpu_counts[i]}, memory_bytes[i]});
      cpus += cpu_counts[i];
    }
    if (!given())
      given() = nigh::topology_builder::of_domains(std::move(domains),
                                                   {nearest_memory, nearest_memory + count});
    return 1;
  } catch (std::bad_alloc const&) {
    return 0;
  }
}

int nigh_where(void const* begin, size_t bytes, size_t* pages_of_domain, nigh_pages* found,
               char const** why) {
  *found = {};
  found->page_bytes = nigh::platform::page_bytes();
  if (bytes == 0) return 0;
  try {
    auto const [first, length] = whole_pages(begin, bytes);
    auto const asked = nigh::memory::visit_pages(first, length, [&](std::size_t at, int node) {
      count_page(first + at, node, pages_of_domain, *found);
    });
    if (asked) return 0;
    *why = keep(asked.message());
  } catch (std::exception const& failed) {
    *why = keep(failed.what());
  }
  return -1;
}

int nigh_move(void const* begin, size_t bytes, int domain, char const** why) {
  try {
    auto const moved = nigh::migrate_bytes({static_cast<std::byte const*>(begin), bytes}, domain,
                                           nigh::this_host());
    if (moved) return 0;
    *why = keep(moved.message());
  } catch (std::exception const& failed) {
    *why = keep(failed.what());
  }
  return -1;
}
