// SPDX-License-Identifier: Apache-2.0
#pragma once
// TaskFrame: while one lives, the calling thread runs a stolen or queued task, or a message. Frames
// lie one on top of another where a thread runs other tasks while it waits.

#include <cstdint>
#include <nigh/detail/task_stack.hpp>

#include "runtime/worker.hpp"

namespace nigh::tasks {

class TaskFrame {
 public:
  // For a queued task: the domain it was put near, and how much it touches, for the trace.
  explicit TaskFrame(int domain = -1, std::uint64_t bytes = 0) noexcept
      : stack_(*detail::this_stack), base_(stack_.top), outer_base_(stack_.base) {
    if (&stack_ == &detail::no_stack) return;
    stack_.base = base_;
    ++stack_.worker->frames;
    stack_.worker->trace.task_begin(domain, bytes);
  }
  // A task is done when all tasks that it spawned are.
  ~TaskFrame() {
    detail::finish_down_to(stack_, base_);
    if (&stack_ == &detail::no_stack) return;
    stack_.base = outer_base_;
    --stack_.worker->frames;
    stack_.worker->trace.task_end();
  }
  TaskFrame(TaskFrame&&) = delete;
  TaskFrame& operator=(TaskFrame&&) = delete;

 private:
  detail::task_stack& stack_;
  detail::task_slot* const base_;
  detail::task_slot* const outer_base_;
};

}  // namespace nigh::tasks
