// SPDX-License-Identifier: Apache-2.0
#pragma once
// The runtime's own functions, for regions whose tasks are not ours, and for what stays the
// runtime's.

#include "base/atomic.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

// An address in the runtime of the thread's region, or of the last region of others; null: there
// was none.
NIGH_HIDDEN void const* runtime_at_hand() noexcept;

// One of them, by its name, as the loader would have found it without us: in the program and what
// it was linked to, or in what the calling library was linked to.
class NIGH_HIDDEN Real {
 public:
  constexpr explicit Real(char const* name) : name_(name) {}
  // Ends the program when there is none: it would not have been linked. `caller` is null where nigh
  // asks for itself.
  void* find(void const* caller) noexcept;

 private:
  void* look_up(void const* caller) noexcept;

  char const* name_;
  sync::atomic<void*> found_{nullptr};
};

}  // namespace nigh::openmp::tasks

// NIGH_REAL(f) before the function, and in it NIGH_PASS_ON(f, arguments...).
#define NIGH_REAL(name)                                   \
  namespace {                                             \
  constinit nigh::openmp::tasks::Real real_##name{#name}; \
  }
#define NIGH_PASS_ON(name, ...) NIGH_REAL_FROM(name, __builtin_return_address(0))(__VA_ARGS__)
// The same for a function of libomp's: the place that the compiler hands it lies in the calling
// library, where a call at the end of a function returns to another one.
#define NIGH_PASS_ON_FROM(where, name, ...) \
  NIGH_REAL_FROM(name, (where) != nullptr ? (where) : __builtin_return_address(0))(__VA_ARGS__)
// The function itself, where `caller` is not the one that has called this function.
#define NIGH_REAL_FROM(name, caller) reinterpret_cast<decltype(&name)>(real_##name.find(caller))
