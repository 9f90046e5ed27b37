// SPDX-License-Identifier: Apache-2.0
// The program's word on the sizes of its teams: omp_set_dynamic(0) and omp_set_num_threads() bind
// nigh, for the thread that calls them, as they bind its runtime. omp_get_dynamic() says yes where
// the user lets teams be smaller.

#include <cstdint>
#include <type_traits>

#include "openmp/nests.hpp"
#include "openmp/process.hpp"
#include "openmp/regions.hpp"
#include "openmp/study.hpp"
#include "openmp/thread.hpp"

namespace nigh::openmp {
namespace {

template <class Value>
std::int64_t number_in(Value value) noexcept {
  if constexpr (std::is_pointer_v<Value>)
    return *value;
  else
    return value;
}

// Within a region, it is said of the regions that are nested there.
void hear(Entry entry, std::int64_t value) noexcept {
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
void say(void const* caller, Value value) noexcept {
  hear(entry, number_in(value));
  void* const real = real_function(find_caller(caller, entry).runtime, entry);
  if (real != nullptr) reinterpret_cast<void (*)(Value)>(real)(value);
}

template <Entry entry>
int is_dynamic(void const* caller) noexcept {
  Region const at = find_caller(caller, entry);
  bool const is_chosen = is_spreading() || study_team() != nullptr;
  auto const adjust = is_chosen ? when_chosen(at.adjust) : at.adjust;
  if (at.runtime != nullptr && process().acts && tells_dynamic(at.rule, adjust)) return 1;
  void* const real = real_function(at.runtime, entry);
  return real != nullptr ? reinterpret_cast<int (*)()>(real)() : 0;
}

}  // namespace
}  // namespace nigh::openmp

using nigh::openmp::Entry;

#define NIGH_SET(name, type)                                            \
  NIGH_INTERPOSED void omp_##name(type value) {                         \
    nigh::openmp::say<Entry::name>(__builtin_return_address(0), value); \
  }
NIGH_SET(set_dynamic, int)
NIGH_SET(set_num_threads, int)
// Fortran's, as in levels.cpp. Those of libgomp do not come by the others.
NIGH_SET(set_dynamic_, std::int32_t const*)
NIGH_SET(set_num_threads_, std::int32_t const*)
NIGH_SET(set_dynamic_8_, std::int64_t const*)
NIGH_SET(set_num_threads_8_, std::int64_t const*)

NIGH_INTERPOSED int omp_get_dynamic() {
  return nigh::openmp::is_dynamic<Entry::get_dynamic>(__builtin_return_address(0));
}
NIGH_INTERPOSED std::int32_t omp_get_dynamic_() {
  return nigh::openmp::is_dynamic<Entry::get_dynamic_>(__builtin_return_address(0));
}
