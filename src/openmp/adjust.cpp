// SPDX-License-Identifier: Apache-2.0
#include "openmp/adjust.hpp"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.hpp"
#include "policy/thread_pools.hpp"

namespace nigh::openmp {
namespace {

using policy::AdjustItem;

constinit char const* list = nullptr;  // our copy, never freed; null: nothing is said
constinit Adjust of_all = Adjust::as_known;
constinit std::uint64_t number_of_libraries = 0;

// A bit for each of the first 64 libraries in the list: seen among those that hold regions.
constinit sync::atomic<std::uint64_t> seen{0};

constexpr std::uint64_t bit(std::uint64_t number) noexcept {
  return number < 64 ? std::uint64_t{1} << number : 0;
}

template <class Take>
void each_library(Take&& take) noexcept {
  std::string_view wrong;
  std::uint64_t number = 0;
  policy::read_adjust(list, wrong, [&](AdjustItem const& item) {
    if (!item.library.empty()) take(item, bit(number++));
  });
}

// Whether it names the pools of this kind: a build's file may have another name, as
// libscipy_openblas.
bool names_pool(std::string_view library, std::string_view path) noexcept {
  for (auto const& setter : policy::pool_setters)
    if (library == setter.word) {
      auto const* const pool = policy::pool_in({path});
      return pool != nullptr && pool->name == setter.pool;
    }
  return false;
}

constexpr bool lets_pools(Adjust adjust) noexcept {
  return adjust == Adjust::all || adjust == Adjust::nests;
}

// Those in the list that are this file.
std::uint64_t bits_of(std::string_view path) noexcept {
  std::uint64_t found = 0;
  each_library([&](AdjustItem const& item, std::uint64_t its_bit) {
    if (policy::names_file(item.library, path) || names_pool(item.library, path)) found |= its_bit;
  });
  return found;
}

int look_at_loaded(dl_phdr_info* object, std::size_t, void* found) {
  if (object->dlpi_name != nullptr)
    *static_cast<std::uint64_t*>(found) |= bits_of(object->dlpi_name);
  return 0;
}

}  // namespace

void begin_adjust() noexcept {
  char const* const text = getenv("NIGH_ADJUST");
  if (text == nullptr || *text == '\0') return;
  std::string_view wrong;
  Adjust last = Adjust::as_known;
  bool const is_good = policy::read_adjust(text, wrong, [&](AdjustItem const& item) {
    if (item.library.empty())
      last = item.adjust;
    else
      ++number_of_libraries;
  });
  if (!is_good) {
    fprintf(stderr,
            "nigh: %s: NIGH_ADJUST: '%.*s' is none of none, without-clause, all, nests, NAME, "
            "NAME=none, NAME=without-clause, NAME=all\n",
            program_invocation_short_name, static_cast<int>(wrong.size()), wrong.data());
    number_of_libraries = 0;
    return;
  }
  of_all = last;
  list = strdup(text);
  if (list == nullptr) number_of_libraries = 0;
}

Adjust adjust_of(std::string_view path) noexcept {
  if (number_of_libraries == 0) return of_all;
  Adjust found = of_all;
  std::uint64_t bits = 0;
  each_library([&](AdjustItem const& item, std::uint64_t its_bit) {
    if (!policy::names_file(item.library, path)) return;
    found = item.adjust;
    bits |= its_bit;
  });
  seen.fetch_or(bits, sync::relaxed);
  return found;
}

bool pools_may_follow() noexcept { return lets_pools(of_all) || number_of_libraries != 0; }

bool may_follow(std::string_view word, std::string_view path) noexcept {
  bool may = lets_pools(of_all);
  if (number_of_libraries == 0) return may;
  std::uint64_t bits = 0;
  each_library([&](AdjustItem const& item, std::uint64_t its_bit) {
    if (item.library != word && !policy::names_file(item.library, path)) return;
    may = item.adjust != Adjust::none;
    bits |= its_bit;
  });
  seen.fetch_or(bits, sync::relaxed);
  return may;
}

void tell_absent_libraries() noexcept {
  if (number_of_libraries == 0) return;
  std::uint64_t found = seen.load(sync::relaxed);
  dl_iterate_phdr(look_at_loaded, &found);
  each_library([&](AdjustItem const& item, std::uint64_t its_bit) {
    if (its_bit == 0 || (found & its_bit) != 0) return;
    fprintf(stderr, "nigh: %s: --adjust %.*s: no such library was loaded\n",
            program_invocation_short_name, static_cast<int>(item.library.size()),
            item.library.data());
  });
}

}  // namespace nigh::openmp
