// SPDX-License-Identifier: Apache-2.0
#pragma once
// The runtime's own functions, for regions whose tasks are not ours, and for what stays the
// runtime's.

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/atomic.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

// One runtime's functions, in the order of all NIGH_REAL(); null: it has none of that name.
using RealFunctions = std::array<void*, 128>;

// Of the runtime that `object` is, a handle of dlopen(). A thread that begins a region looks for
// all of them: while it is in dlopen(), which runs a library's constructors, the other threads of
// its team can ask the loader for none.
// `is_first`: see is_first_runtime().
NIGH_HIDDEN void find_all(void* object, bool is_first, RealFunctions&) noexcept;

// Whether the program began with the runtime whose object begins here.
NIGH_HIDDEN bool is_first_runtime(void const* object) noexcept;

// An address in the runtime of the thread's region, if its tasks are ours or it is one of gcc's; or
// of the last region of others; null: there was none.
NIGH_HIDDEN void const* runtime_at_hand() noexcept;
// The second of these.
NIGH_HIDDEN void const* runtime_of_body() noexcept;

// Of the runtime that `inside` lies in, as runtime_at_hand() gives it; null: no region of it has
// begun.
NIGH_HIDDEN RealFunctions const* functions_of(void const* inside) noexcept;
// Of the libgomp, or the libomp, that the program began with; null likewise.
NIGH_HIDDEN RealFunctions const* functions_of_first(bool libgomp) noexcept;

// In the child of a fork: another thread of the parent may have been looking for one.
NIGH_HIDDEN void unlock_found_calls() noexcept;

// One of them, by its name, as the loader would have found it without us: in the program and what
// it was linked to, or in what the calling library was linked to.
class NIGH_HIDDEN Real {
 public:
  constexpr explicit Real(char const* name) : name_(name) {}
  // Ends the program when there is none: it would not have been linked. `caller` is null where nigh
  // asks for itself.
  void* find(void const* caller) noexcept;

 private:
  friend void find_all(void*, bool, RealFunctions&) noexcept;
  bool has_versions() const noexcept;
  bool is_listed() const noexcept;
  std::uintptr_t number_of_call(void const* caller) const noexcept;
  void* in(RealFunctions const* functions) const noexcept;
  void* look_up_version(void const* caller) const noexcept;
  void* look_up(void const* caller) noexcept;
  void* look_up_first() noexcept;

  char const* name_;
  sync::atomic<void*> found_{nullptr};
};

}  // namespace nigh::openmp::tasks

// All of them lie in one section of the library, without gaps, for find_all().
static_assert(sizeof(nigh::openmp::tasks::Real) == 2 * sizeof(void*));
#define NIGH_REAL_AS(variable, name) \
  [[gnu::section("nigh_reals")]] constinit nigh::openmp::tasks::Real variable { name }
// NIGH_REAL(f) before the function, and in it NIGH_PASS_ON(f, arguments...).
#define NIGH_REAL(name)             \
  namespace {                       \
  NIGH_REAL_AS(real_##name, #name); \
  }
#define NIGH_PASS_ON(name, ...) NIGH_REAL_FROM(name, __builtin_return_address(0))(__VA_ARGS__)
// The same for a function of libomp's: the place that the compiler hands it lies in the calling
// library, where a call at the end of a function returns to another one.
#define NIGH_PASS_ON_FROM(where, name, ...) \
  NIGH_REAL_FROM(name, (where) != nullptr ? (where) : __builtin_return_address(0))(__VA_ARGS__)
// The function itself, where `caller` is not the one that has called this function.
#define NIGH_REAL_FROM(name, caller) reinterpret_cast<decltype(&name)>(real_##name.find(caller))
