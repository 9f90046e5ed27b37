// SPDX-License-Identifier: Apache-2.0
#pragma once
// While one of these lives, the calling thread runs a task that it stole or took from a queue.

#include <cstdint>
#include <nigh/detail/task_stack.hpp>

#include "runtime/worker.hpp"

namespace nigh::detail {

class Frame {
 public:
  // Of a queued task: the domain it was put near, and how much it touches, for the trace.
  explicit Frame(int home = -1, std::uint64_t bytes = 0) noexcept
      : stack_(*this_stack), base_(stack_.top), outer_base_(stack_.base) {
    if (&stack_ == &no_stack) return;
    stack_.base = base_;
    auto& me = *stack_.worker;
    ++me.frames;
    track_ = me.track;
    if (track_ != nullptr) track_->task_begin(home, bytes);
  }
  // A task is done when all that it spawned is.
  ~Frame() {
    finish_down_to(stack_, base_);
    if (&stack_ != &no_stack) {
      stack_.base = outer_base_;
      --stack_.worker->frames;
    }
    if (track_ != nullptr) track_->task_end();
  }
  Frame(Frame&&) = delete;
  Frame& operator=(Frame&&) = delete;

 private:
  task_stack& stack_;
  task_slot* const base_;
  task_slot* const outer_base_;
  trace::Track* track_ = nullptr;
};

}  // namespace nigh::detail
