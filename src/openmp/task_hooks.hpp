// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where tasks of OpenMP programs are nigh's, a second preloaded library has them (tasks/). It takes
// no part in a process that does not want it, so this library asks for it by name.

#include <cstddef>
#include <cstdint>

#include "openmp/runtimes.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

struct TaskHooks {
  static constexpr std::uint32_t current = 2;
  static constexpr std::size_t room_bytes = 512;

  std::uint32_t version;
  // A region begins: `room` is its team's, and outlasts it. Null: its tasks are the runtime's.
  // `inside`: any function of the runtime. `cpus`: for the team, whose threads may be more.
  void* (*begin)(void* room, void const* inside, void const* code, std::uint32_t cpus,
                 bool is_kmpc) noexcept;
  // Each thread of the team, before and after the region's body.
  void (*enter)(void* team, std::uint32_t number, std::int32_t global_number) noexcept;
  void (*leave)() noexcept;
  // After the region.
  void (*end)(void* team) noexcept;
  // Around a region of one thread whose body the program calls itself; libomp's.
  void (*begin_serial)(void const* inside, std::int32_t global_number) noexcept;
};

// Null: there are none.
NIGH_HIDDEN extern constinit TaskHooks const* task_hooks;

// The tasks of a region, as long as it lasts. There are hooks.
class TaskRoom {
 public:
  TaskRoom(Runtime const& runtime, void const* code, std::uint32_t cpus, bool is_kmpc) noexcept
      : team_(task_hooks->begin(room_, reinterpret_cast<void const*>(runtime.thread_num), code,
                                cpus, is_kmpc)) {}
  ~TaskRoom() {
    if (team_ != nullptr) task_hooks->end(team_);
  }
  TaskRoom(TaskRoom&&) = delete;
  TaskRoom& operator=(TaskRoom&&) = delete;

  void* team() const noexcept { return team_; }  // null: its tasks are the runtime's

 private:
  alignas(64) std::byte room_[TaskHooks::room_bytes];
  void* team_;
};

}  // namespace nigh::openmp

// The table, in the other library.
#define NIGH_TASK_HOOKS nigh_openmp_task_hooks
#define NIGH_TASK_HOOKS_NAME "nigh_openmp_task_hooks"
