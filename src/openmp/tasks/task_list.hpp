// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tasks that wait in no thread's deque, oldest first: of threads outside the team, of deques that
// are full, and those that want to run near their data.
//
// A sleeper misses no task that is put here by (sleeper.S).

#include <stdlib.h>

#include <cstdint>

#include "base/atomic.hpp"
#include "openmp/tasks/task.hpp"
#include "openmp/tasks/yielding_lock.hpp"

namespace nigh::openmp::tasks {

class TaskList {
 public:
  TaskList() = default;
  TaskList(TaskList&&) = delete;
  TaskList& operator=(TaskList&&) = delete;

  // False: there is no memory.
  bool put(Task& t) noexcept {
    auto* const added = static_cast<Item*>(malloc(sizeof(Item)));
    if (added == nullptr) return false;
    *added = {&t, nullptr};
    Locked const here(lock_);
    *(last_ == nullptr ? &first_ : &last_->next) = added;
    last_ = added;
    count_.fetch_add(1, sync::seq_cst);  // (sleeper.S)
    return true;
  }

  // The oldest one that descends from `within`; of any, where that is null.
  Task* take(Task const* within) noexcept {
    if (count_.load(sync::relaxed) == 0) return nullptr;
    Locked const here(lock_);
    Item* before = nullptr;
    for (Item* i = first_; i != nullptr; before = i, i = i->next) {
      if (within != nullptr && !descends_from(*i->task, *within)) continue;
      Task* const t = i->task;
      (before == nullptr ? first_ : before->next) = i->next;
      if (last_ == i) last_ = before;
      free(i);
      count_.fetch_sub(1, sync::relaxed);
      return t;
    }
    return nullptr;
  }

  bool has_any() const noexcept { return count_.load(sync::seq_cst) != 0; }  // (sleeper.S)

 private:
  struct Item {
    Task* task;
    Item* next;
  };

  sync::atomic<std::uint32_t> count_{0};
  YieldingLock lock_;
  Item* first_ = nullptr;
  Item* last_ = nullptr;
};

}  // namespace nigh::openmp::tasks
