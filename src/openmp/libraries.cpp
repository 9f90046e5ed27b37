// SPDX-License-Identifier: Apache-2.0
#include "openmp/libraries.hpp"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <array>
#include <cstdint>

#include "base/atomic.hpp"
#include "openmp/printable_name.hpp"
#include "settings/thread_pools.hpp"

namespace nigh::openmp {
namespace {

enum class Match : std::uint8_t {
  library,        // its file's name is that, followed by no letter
  library_begin,  // its file's name begins so
  folder,         // it lies in such a folder
  program,        // the program's file has that name
  program_begin,  // its name begins so
};

struct Row {
  Match match;
  std::string_view text;
  TeamRule rule;
};

constexpr std::array table{
    // Its threads wait for each other as many as omp_get_max_threads() said there would be,
    // whatever
    // the team's size: with fewer they never end (0.3.21 of Debian, built with OpenMP).
    Row{Match::library_begin, "libopenblas", TeamRule::whole},
    Row{Match::library_begin, "libscipy_openblas", TeamRule::whole},
    // Sums in the order of its threads: 4 of 4 runs with smaller teams gave another model.
    Row{Match::library_begin, "libxgboost", TeamRule::whole},
    // Has arrays of omp_get_max_threads() values that it sums up afterwards, those included that no
    // thread has written: with OMP_NUM_THREADS=4 and fewer threads, 2.0 ended with an energy of
    // 7.49e5 instead of 8.47e4, and exit status 0.
    Row{Match::program_begin, "lulesh", TeamRule::whole},
    // Gave the same result with smaller teams, byte for byte, alone and beside others, with leases
    // asked back every millisecond (tests/foreign): Debian 12's 1.3.40, 6.9.11.60, 5.1.0, 4.8.1,
    // 0.8.1 and 5.3.0.
    Row{Match::library, "libGraphicsMagick", TeamRule::free},
    Row{Match::library, "libMagickCore", TeamRule::free},
    Row{Match::program, "muscle", TeamRule::free},
    Row{Match::program, "cd-hit-est", TeamRule::free},
    Row{Match::program, "par2", TeamRule::free},
    Row{Match::library, "libtesseract", TeamRule::free},
    // Histogram-based gradient boosting names a number in each prange(), and asks
    // omp_get_num_threads() within where it matters: 1.2.1 of Debian and 1.9.1 of PyPI.
    Row{Match::folder, "/sklearn/ensemble/_hist_gradient_boosting/", TeamRule::named},
};

constexpr bool matches(Row const& row, std::string_view path, bool is_program) {
  std::string_view file = path;
  if (file.rfind('/') != file.npos) file.remove_prefix(file.rfind('/') + 1);
  switch (row.match) {
    case Match::library:
      return !is_program && settings::names_file(row.text, file) && file.starts_with(row.text);
    case Match::library_begin:
      return !is_program && file.starts_with(row.text);
    case Match::folder:
      return !is_program && path.find(row.text) != path.npos;
    case Match::program:
      return is_program && file == row.text;
    case Match::program_begin:
      return is_program && file.starts_with(row.text);
  }
  return false;
}

}  // namespace

TeamRule rule_of(std::string_view path, bool is_program) noexcept {
  for (Row const& row : table)
    if (matches(row, path, is_program)) return row.rule;
  return TeamRule::unknown;
}

namespace {

using settings::AdjustItem;

constinit char const* list = nullptr;  // our copy, never freed; null: no list is given
constinit Adjust of_all = Adjust::as_known;
constinit std::uint64_t number_of_libraries = 0;

// A bit for each of the first 64 libraries in the list: set when seen among those that hold
// regions.
constinit sync::atomic<std::uint64_t> seen{0};

constexpr std::uint64_t bit(std::uint64_t number) noexcept {
  return number < 64 ? std::uint64_t{1} << number : 0;
}

template <class Take>
void each_library(Take&& take) noexcept {
  std::string_view wrong;
  std::uint64_t number = 0;
  settings::read_adjust(list, wrong, [&](AdjustItem const& item) {
    if (!item.library.empty()) take(item, bit(number++));
  });
}

// Whether it names the pools of this kind: a build's file may have another name, as
// libscipy_openblas.
bool names_pool(std::string_view library, std::string_view path) noexcept {
  for (auto const& setter : settings::pool_setters)
    if (library == setter.word) {
      auto const* const pool = settings::pool_in({path});
      return pool != nullptr && pool->name == setter.pool;
    }
  return false;
}

constexpr bool lets_pools(Adjust adjust) noexcept {
  return adjust == Adjust::all || adjust == Adjust::nests;
}

// The entries of the list that mean this file.
std::uint64_t bits_of(std::string_view path) noexcept {
  std::uint64_t found = 0;
  each_library([&](AdjustItem const& item, std::uint64_t its_bit) {
    if (settings::names_file(item.library, path) || names_pool(item.library, path))
      found |= its_bit;
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
  bool const is_good = settings::read_adjust(text, wrong, [&](AdjustItem const& item) {
    if (item.library.empty())
      last = item.adjust;
    else
      ++number_of_libraries;
  });
  if (!is_good) {
    fprintf(stderr,
            "nigh: %s: NIGH_ADJUST: '%.*s' is none of none, without-clause, all, nests, NAME, "
            "NAME=none, NAME=without-clause, NAME=all\n",
            printable_name().text(), static_cast<int>(wrong.size()), wrong.data());
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
    if (!settings::names_file(item.library, path)) return;
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
    if (item.library != word && !settings::names_file(item.library, path)) return;
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
            printable_name().text(), static_cast<int>(item.library.size()), item.library.data());
  });
}

}  // namespace nigh::openmp
