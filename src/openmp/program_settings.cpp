// SPDX-License-Identifier: Apache-2.0
#include "openmp/program_settings.hpp"

#include <stdlib.h>

#include <cstdint>
#include <type_traits>

#include "base/atomic.hpp"
#include "openmp/nested_plan.hpp"
#include "openmp/process.hpp"
#include "openmp/regions.hpp"
#include "openmp/study.hpp"
#include "openmp/task_room.hpp"
#include "openmp/thread.hpp"

namespace nigh::openmp {
namespace {

constinit sync::atomic<bool> program_set_levels{false};

bool is_set(char const* name) noexcept {
  char const* const value = getenv(name);
  return value != nullptr && *value != '\0';
}

template <class Value>
std::int64_t number_in(Value value) noexcept {
  if constexpr (std::is_pointer_v<Value>)
    return *value;
  else
    return value;
}

constexpr bool is_of_levels(Entry entry) noexcept {
  switch (entry) {
    case Entry::set_max_active_levels:
    case Entry::set_max_active_levels_:
    case Entry::set_max_active_levels_8_:
    case Entry::set_nested:
    case Entry::set_nested_:
    case Entry::set_nested_8_:
      return true;
    default:
      return false;
  }
}

// Within a region, a size concerns the regions that are nested there.
void hear_size(Entry entry, std::int64_t value) noexcept {
  Thread& me = this_thread;
  if (me.is_inside || me.is_worker) return;
  switch (entry) {
    case Entry::set_dynamic:
    case Entry::set_dynamic_:
    case Entry::set_dynamic_8_:
      me.fixes_teams = value == 0;
      break;
    default:
      me.names_number = true;
  }
}

template <Entry entry, class Value>
void set(void const* caller, Value value) noexcept {
  if constexpr (is_of_levels(entry))
    program_set_levels.store(true, sync::relaxed);
  else
    hear_size(entry, number_in(value));
  void* const real = real_function(find_caller(caller, entry).runtime, entry);
  if (real == nullptr) return;
  if (task_hooks != nullptr) task_hooks->before_setting();
  reinterpret_cast<void (*)(Value)>(real)(value);
  if (task_hooks != nullptr) task_hooks->after_setting();
}

template <Entry entry>
int is_dynamic(void const* caller) noexcept {
  Region const at = find_caller(caller, entry);
  bool const is_chosen = is_spreading() || study_team() != nullptr;
  auto const adjust = is_chosen ? when_chosen(at.adjust) : at.adjust;
  bool const is_fixed = this_thread.fixes_teams || process().fixes_teams;
  Said const said{false, is_fixed, this_thread.names_number};
  if (at.runtime != nullptr && process().acts && tells_dynamic(at.rule, said, adjust)) return 1;
  void* const real = real_function(at.runtime, entry);
  return real != nullptr ? reinterpret_cast<int (*)()>(real)() : 0;
}

}  // namespace

bool levels_are_said() noexcept {
  return program_set_levels.load(sync::relaxed) || is_set("OMP_MAX_ACTIVE_LEVELS") ||
         is_set("OMP_NESTED");
}

int lift_levels(Runtime const& runtime) noexcept {
  constexpr int needed = 2;
  int const before = runtime.max_active_levels();
  if (before >= needed || runtime.set_max_active_levels == nullptr) return -1;
  runtime.set_max_active_levels(needed);
  return before;
}

}  // namespace nigh::openmp

using nigh::openmp::Entry;

#define NIGH_SET(name, type)                                            \
  NIGH_INTERPOSED void omp_##name(type value) {                         \
    nigh::openmp::set<Entry::name>(__builtin_return_address(0), value); \
  }
NIGH_SET(set_dynamic, int)
NIGH_SET(set_num_threads, int)
NIGH_SET(set_max_active_levels, int)
NIGH_SET(set_nested, int)
// Fortran passes addresses; -fdefault-integer-8 makes larger numbers of them. libgomp has separate
// entries for these.
NIGH_SET(set_dynamic_, std::int32_t const*)
NIGH_SET(set_num_threads_, std::int32_t const*)
NIGH_SET(set_max_active_levels_, std::int32_t const*)
NIGH_SET(set_nested_, std::int32_t const*)
NIGH_SET(set_dynamic_8_, std::int64_t const*)
NIGH_SET(set_num_threads_8_, std::int64_t const*)
NIGH_SET(set_max_active_levels_8_, std::int64_t const*)
NIGH_SET(set_nested_8_, std::int64_t const*)

NIGH_INTERPOSED int omp_get_dynamic() {
  return nigh::openmp::is_dynamic<Entry::get_dynamic>(__builtin_return_address(0));
}
NIGH_INTERPOSED std::int32_t omp_get_dynamic_() {
  return nigh::openmp::is_dynamic<Entry::get_dynamic_>(__builtin_return_address(0));
}
