// SPDX-License-Identifier: Apache-2.0
// Placed memory for numpy's arrays, and where any memory lies.

#include <cstdint>
#include <exception>
#include <new>
#include <nigh/array.hpp>
#include <nigh/topology.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "memory/live_arrays.hpp"
#include "memory/locate.hpp"
#include "platform/pages.hpp"
#include "python/nigh-python.h"

using nigh::placement;

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

// nigh::this_host() would end the program where the system will not say what the host is.
nigh::result<nigh::topology> const& host() {
  static auto const one = nigh::topology::live();
  return one;
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
    int const domain = host()->domain_of_os_node(node);
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
    if (!host()) return fails(refused, host().message().c_str());
    return new nigh_block{{count,
                           element_bytes,
                           rule_of(kind, value),
                           {.machine = &*host(), .huge_pages = huge_pages != 0}}};
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

int nigh_domains(char const** why) {
  if (host()) return static_cast<int>(host()->domains().size());
  *why = keep(host().message());
  return -1;
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
    auto const moved =
        nigh::migrate_bytes({static_cast<std::byte const*>(begin), bytes}, domain, *host());
    if (moved) return 0;
    *why = keep(moved.message());
  } catch (std::exception const& failed) {
    *why = keep(failed.what());
  }
  return -1;
}
