// SPDX-License-Identifier: Apache-2.0
#pragma once
// A task as gcc and gfortran pass it.

#include <cstddef>
#include <cstdint>

#include "openmp/tasks/team.hpp"

namespace nigh::openmp::tasks {

using Body = void (*)(void*);
using Copy = void (*)(void* to, void* from);

namespace gomp_flag {
inline constexpr unsigned untied = 1, final = 2, depend = 8, up = 256, grain = 512, deferred = 1024,
                          no_group = 2048, reduction = 4096, detachable = 8192, strict = 16384;
}  // namespace gomp_flag

inline std::uint16_t kind_of(Member const& me, unsigned flags) noexcept {
  return static_cast<std::uint16_t>(
      ((flags & gomp_flag::untied) != 0 ? flag::untied : 0) |
      ((flags & gomp_flag::final) != 0 || me.current->is(flag::final) ? flag::final : 0));
}

inline void* aligned(void* at, std::size_t alignment) noexcept {
  auto const address = reinterpret_cast<std::uintptr_t>(at);
  return reinterpret_cast<void*>((address + alignment - 1) & ~(alignment - 1));
}

// With a copy of the arguments.
NIGH_HIDDEN Task& new_gomp_task(Member& me, Body body, void* data, Copy copy, long size, long align,
                                unsigned flags) noexcept;

inline void* arguments_of(Task& t) noexcept {
  return t.is(flag::extra) && t.extra->arguments != nullptr ? t.extra->arguments : t.block();
}

// if(0), or within a final task: the thread goes on when it has ended.
inline void run_undeferred(Member& me, Task& t) noexcept {
  ++me.counts.at_once;
  run(me, t);
}

// A task at once, with arguments that need no copy: the caller's own do, for it goes on when the
// body has ended. So it has not to wait for the task, nor has its group.
NIGH_HIDDEN void run_in_place(Member& me, Body body, void* data, unsigned flags) noexcept;

}  // namespace nigh::openmp::tasks
