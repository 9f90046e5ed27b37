// SPDX-License-Identifier: Apache-2.0
#include "openmp/levels.hpp"

#include <stdlib.h>

#include "base/atomic.hpp"
#include "openmp/regions.hpp"

namespace nigh::openmp {
namespace {

constinit sync::atomic<bool> said_by_program{false};

bool is_set(char const* name) noexcept {
  char const* const value = getenv(name);
  return value != nullptr && *value != '\0';
}

template <Entry entry, class Value>
void say(void const* caller, Value value) {
  said_by_program.store(true, sync::relaxed);
  void* const real = real_function(find_caller(caller, entry).runtime, entry);
  if (real != nullptr) reinterpret_cast<void (*)(Value)>(real)(value);
}

}  // namespace

bool levels_are_said() noexcept {
  return said_by_program.load(sync::relaxed) || is_set("OMP_MAX_ACTIVE_LEVELS") ||
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

#define NIGH_LEVELS(name, type)                                         \
  NIGH_INTERPOSED void omp_##name(type value) {                         \
    nigh::openmp::say<Entry::name>(__builtin_return_address(0), value); \
  }
NIGH_LEVELS(set_max_active_levels, int)
NIGH_LEVELS(set_nested, int)
// Fortran's, which passes addresses, and what -fdefault-integer-8 makes of them.
NIGH_LEVELS(set_max_active_levels_, std::int32_t const*)
NIGH_LEVELS(set_nested_, std::int32_t const*)
NIGH_LEVELS(set_max_active_levels_8_, std::int64_t const*)
NIGH_LEVELS(set_nested_8_, std::int64_t const*)
