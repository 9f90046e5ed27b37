// SPDX-License-Identifier: Apache-2.0
#pragma once
// One worker's tasks, as HotSLAW keeps them: the oldest are shared, the newest private.
//
//   [begin, split)  shared: thieves take the oldest, under a lock
//   [split, end)    private: the owner pushes and pops the newest
//
// A million workers have one each, most of them empty at any time: no memory before the first task.

#include <cstdint>
#include <cstring>
#include <memory>

#include "base/assert.hpp"
#include "sim/steal/task_forest.hpp"

namespace nigh::sim {

class SplitQueue {
 public:
  std::uint32_t shared() const noexcept { return split_ - begin_; }
  std::uint32_t owned() const noexcept { return end_ - split_; }
  std::uint32_t size() const noexcept { return end_ - begin_; }

  void push(TaskId task) {
    if (end_ == capacity_) make_room(1);
    tasks_[end_++] = task;
  }
  TaskId newest() const noexcept { return tasks_[end_ - 1]; }
  TaskId pop() noexcept {
    NIGH_DEBUG_ASSERT(owned() > 0, "there is a private task");
    auto const task = tasks_[--end_];
    if (begin_ == end_) begin_ = split_ = end_ = 0;
    return task;
  }

  // The oldest private tasks become shared, until these are so many.
  void share(std::uint32_t wanted) noexcept {
    if (shared() < wanted) split_ = begin_ + wanted;
  }
  // The newest shared tasks become private again.
  void take_back(std::uint32_t tasks) noexcept { split_ -= tasks; }

  // The oldest shared ones, in their order, to a thief whose queue is empty, as private ones.
  void give(std::uint32_t tasks, SplitQueue& thief) {
    NIGH_DEBUG_ASSERT(tasks <= shared() && thief.size() == 0, "there are so many, and room");
    if (tasks == 0) return;
    thief.begin_ = thief.split_ = thief.end_ = 0;
    if (thief.capacity_ < tasks) thief.make_room(tasks);
    std::memcpy(thief.tasks_.get(), tasks_.get() + begin_, tasks * sizeof(TaskId));
    thief.end_ = tasks;
    begin_ += tasks;
  }

 private:
  // Moved down first, when much of the room is that of tasks that are gone.
  void make_room(std::uint32_t more) {
    auto const n = size();
    if (begin_ > capacity_ / 2 && n + more <= capacity_) {
      std::memmove(tasks_.get(), tasks_.get() + begin_, n * sizeof(TaskId));
    } else {
      auto capacity = capacity_ == 0 ? 8 : capacity_;
      while (capacity < n + more) capacity *= 2;
      if (capacity == capacity_) capacity *= 2;
      auto larger = std::make_unique_for_overwrite<TaskId[]>(capacity);
      if (n > 0) std::memcpy(larger.get(), tasks_.get() + begin_, n * sizeof(TaskId));
      tasks_ = std::move(larger);
      capacity_ = capacity;
    }
    split_ -= begin_;
    end_ = n;
    begin_ = 0;
  }

  std::unique_ptr<TaskId[]> tasks_;
  std::uint32_t capacity_ = 0;
  std::uint32_t begin_ = 0, split_ = 0, end_ = 0;
};

}  // namespace nigh::sim
