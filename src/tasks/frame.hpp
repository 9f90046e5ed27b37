// SPDX-License-Identifier: Apache-2.0
#pragma once
// While one of these lives, the calling thread runs a task that it stole or took from a queue.

#include <nigh/detail/task_stack.hpp>

namespace nigh::detail {

class Frame {
 public:
  Frame() noexcept : stack_(*this_stack), base_(stack_.top), outer_floor_(stack_.floor) {
    if (&stack_ != &no_stack) stack_.floor = base_;
  }
  // A task is done when all that it spawned is.
  ~Frame() {
    finish_down_to(stack_, base_);
    if (&stack_ != &no_stack) stack_.floor = outer_floor_;
  }
  Frame(Frame&&) = delete;
  Frame& operator=(Frame&&) = delete;

 private:
  task_stack& stack_;
  task_slot* const base_;
  task_slot* const outer_floor_;
};

}  // namespace nigh::detail
