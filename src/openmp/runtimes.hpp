// SPDX-License-Identifier: Apache-2.0
#pragma once
// The OpenMP runtimes of this process. There may be several: a Python process has one for each
// package that brought its own.

#include <array>
#include <cstddef>
#include <cstdint>

#include "platform/loaded_objects.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// The functions that are interposed. libomp has those of libgomp, too.
enum class Entry : std::uint8_t {
  parallel,
  parallel_reductions,
  parallel_sections,
  loop_static,
  loop_dynamic,
  loop_guided,
  loop_runtime,
  loop_nonmonotonic_dynamic,
  loop_nonmonotonic_guided,
  loop_nonmonotonic_runtime,
  loop_maybe_nonmonotonic_runtime,
  fork_call,
  fork_call_if,
  push_num_threads,
  push_num_threads_strict,
  push_num_threads_list,
  push_num_threads_list_strict,
  serialized_parallel,
  set_max_active_levels,
  set_nested,
  set_max_active_levels_,
  set_nested_,
  set_max_active_levels_8_,
  set_nested_8_,
  set_dynamic,
  set_num_threads,
  get_dynamic,
  set_dynamic_,
  set_num_threads_,
  get_dynamic_,
  set_dynamic_8_,
  set_num_threads_8_,
};
inline constexpr std::size_t entries = 32;
NIGH_HIDDEN char const* name_of(Entry) noexcept;

inline constexpr std::size_t most_runtimes = 16;

// One runtime: its own functions, even where other libraries export the same names. Each is set
// from the start, or null for ever.
struct Runtime {
  void const* object = nullptr;  // its address: the runtime's identity
  platform::LoadedObject code{};
  std::array<void*, entries> real{};
  int (*thread_num)() = nullptr;
  int (*max_threads)() = nullptr;
  int (*thread_limit)() = nullptr;
  int (*dynamic)() = nullptr;
  int (*max_active_levels)() = nullptr;
  int (*active_level)() = nullptr;
  void (*set_max_active_levels)(int) = nullptr;
  void (*set_num_threads)(int) = nullptr;
  int (*num_procs)() = nullptr;
  std::int32_t (*global_thread_num)(void*) = nullptr;  // libomp's
  void (*end_serialized)(void*, std::int32_t) = nullptr;
  int (*blocktime)() = nullptr;  // likewise, in ms
  void (*set_blocktime)(int) = nullptr;
  void (*set_dynamic)(int) = nullptr;
  std::size_t number = 0;  // from 0, less than most_runtimes

  template <class Function>
  Function* function(Entry e) const noexcept {
    return reinterpret_cast<Function*>(real[static_cast<std::size_t>(e)]);
  }
};

// The runtime that `entry` would have reached without us, called by code in the object of `code` or
// of `caller`. Null: there is none. The program was linked without it, by a weak reference, and
// found the function only because the shim has it.
NIGH_HIDDEN Runtime const* find_runtime(Entry entry, void const* code, void const* caller) noexcept;

// `entry` of this runtime; for null, what the program would have called without us. Null: nothing.
NIGH_HIDDEN void* real_function(Runtime const*, Entry) noexcept;

// The first one found, or null.
NIGH_HIDDEN Runtime const* any_runtime() noexcept;

// In the child of a fork: other threads of the parent may have been in here.
NIGH_HIDDEN void unlock_runtimes() noexcept;

// The runtime that this code belongs to, or null.
NIGH_HIDDEN Runtime const* runtime_of(void const* code) noexcept;

}  // namespace nigh::openmp
