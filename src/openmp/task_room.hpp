// SPDX-License-Identifier: Apache-2.0
#pragma once
// A region whose tasks the library for tasks may run (task_hooks.hpp).

#include <cstddef>
#include <cstdint>

#include "openmp/region_scope.hpp"
#include "openmp/task_hooks.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp {

// Null: there are none.
NIGH_HIDDEN extern constinit TaskHooks const* task_hooks;

// Exchanges the lease of a team, whose threads keep their numbers.
class NIGH_HIDDEN LeaseOfTeam final : public RunningLease {
 public:
  explicit LeaseOfTeam(Team const& team) noexcept : now_(&team) {}

  bool is_outdated() noexcept override;
  std::uint32_t exchange(std::uint32_t threads) noexcept override;
  void settle(std::uint32_t number) noexcept override;
  void tell(std::uint64_t made, std::uint64_t stolen) noexcept override;

 private:
  // As the leader says. It writes while the others are settled; they hear of it afterwards
  // (tasks/following.hpp).
  Team const* now_;
  Team after_[2];
  std::int64_t asked_us_ = 0;
};

struct alignas(64) RoomForTasks {
  std::byte bytes[TaskHooks::room_bytes];
};

// The tasks of a region, as long as it lasts. There are hooks.
class TaskRoom {
 public:
  TaskRoom(RoomForTasks& room, Runtime const& runtime, void const* code, RegionScope const& scope,
           Team const& team, bool is_kmpc) noexcept
      : lease_(team),
        team_(task_hooks->begin(&room, reinterpret_cast<void const*>(runtime.thread_num), code,
                                cpus_of(team), scope.has_own_lease() ? &lease_ : nullptr, is_kmpc)),
        left_out_(team_ == nullptr ? task_hooks->leave_out() : nullptr) {}
  ~TaskRoom() {
    if (team_ != nullptr)
      task_hooks->end(team_);
    else
      task_hooks->come_back(left_out_);
  }
  TaskRoom(TaskRoom&&) = delete;
  TaskRoom& operator=(TaskRoom&&) = delete;

  // At the room's address. Null: its tasks are the runtime's.
  void* team() const noexcept { return team_; }

 private:
  LeaseOfTeam lease_;
  void* team_;
  void* left_out_;
};

}  // namespace nigh::openmp
