// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where tasks of OpenMP programs are nigh's, a second preloaded library has them (tasks/). It takes
// no part in a process that does not want it, so this library asks for it by name. While a region's
// tasks are run there, its lease may change.

#include <cstddef>
#include <cstdint>

namespace nigh::openmp {

// The lease of a region while it runs. Tasks begin and end, so its threads need not wait for its
// end before they make room, or take more.
class RunningLease {
 public:
  // The leader: whether the region should have other cpus. Costs little.
  virtual bool is_outdated() noexcept = 0;
  // The leader, while each of so many threads is where the last exchange has put it: asks for
  // others. Returns how many cpus they have from now on; 0: nothing has changed.
  virtual std::uint32_t exchange(std::uint32_t threads) noexcept = 0;
  // Each thread, when it has seen that exchange: goes where that has put it.
  virtual void settle(std::uint32_t number) noexcept = 0;
  // The leader: the process's tasks up to now, and how many of them were stolen.
  virtual void tell(std::uint64_t made, std::uint64_t stolen) noexcept = 0;

 protected:
  ~RunningLease() = default;
};

struct TaskHooks {
  static constexpr std::uint32_t current = 6;
  static constexpr std::size_t room_bytes = 576;

  std::uint32_t version;
  // A region begins: `room` is its team's, and outlasts it. Returns that; null: its tasks are the
  // runtime's.
  // `inside`: any function of the runtime. `cpus`: for the team, whose threads may be more.
  // `lease`: null, or lasts as long as the region.
  void* (*begin)(void* room, void const* inside, void const* code, std::uint32_t cpus,
                 RunningLease* lease, bool is_kmpc) noexcept;
  // Each thread of the team, before and after the region's body.
  void (*enter)(void* team, std::uint32_t number, std::int32_t global_number) noexcept;
  void (*leave)() noexcept;
  // After the region.
  void (*end)(void* team) noexcept;
  // Around the body of a region of one thread, which is no call of the runtime's; libomp's. Where
  // the program calls the body, it ends the region by __kmpc_end_serialized_parallel().
  void (*begin_serial)(void const* inside, std::int32_t global_number) noexcept;
  void (*end_serial)() noexcept;
  // Around a region whose tasks are the runtime's: the thread that begins it takes no part
  // meanwhile in a region of ours around it. come_back() gets the result of leave_out().
  void* (*leave_out)() noexcept;
  void (*come_back)(void* member) noexcept;
  // Before and after the program's call that changes a setting of the task it is in.
  void (*before_setting)() noexcept;
  void (*after_setting)() noexcept;
};

// Of the library for regions, which the other asks for by name: an address in the runtime that this
// code belongs to, or that its object was bound to while another may come first; null: neither. For
// that library's own code: in the runtime whose region's body it calls on this thread.
using RuntimeOf = void const*(void const* code);
#define NIGH_RUNTIME_OF_NAME "nigh_openmp_runtime_of"
// Likewise: how often the program has closed libraries. Other code may lie where theirs was.
using TimesClosed = std::uint32_t();
#define NIGH_TIMES_CLOSED_NAME "nigh_openmp_times_closed"

}  // namespace nigh::openmp

// The table, in the other library.
#define NIGH_TASK_HOOKS nigh_openmp_task_hooks
#define NIGH_TASK_HOOKS_NAME "nigh_openmp_task_hooks"
