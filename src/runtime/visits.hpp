// SPDX-License-Identifier: Apache-2.0
#pragma once
// The seats that the calling thread has taken in runtimes it is no worker of, to put tasks there
// from C. Such a seat is kept until its tasks have been waited for.

#include <array>

#include "runtime/task_queue.hpp"

namespace nigh::tasks {

class Visits {
 public:
  ~Visits();  // a thread that ends waits for what it has put

  // Of the running task, or of the thread outside of tasks; null: none.
  Worker* find(detail::scheduler const& host) noexcept;
  // The same, and takes a seat if there is none. Null: all seats, or all of ours, are taken.
  Worker* find_or_open(nigh_task_queue& queue) noexcept;
  void close(Worker const& seat) noexcept;  // all its tasks have been joined

  // Tasks that nigh_steal() runs are others than the one that called it.
  void begin_other_tasks() noexcept { ++level_; }
  void end_other_tasks() noexcept { --level_; }

 private:
  // Whose visit it is. A task must not wait for the tasks of another one that it happens to run on
  // top of: that one may be waiting for it.
  struct Visitor {
    detail::task_stack const* stack = nullptr;
    detail::task_slot const* base = nullptr;
    unsigned level = 0;
    bool operator==(Visitor const&) const = default;
  };
  struct Visit {
    Worker* seat = nullptr;
    Visitor who;
    nigh_task_queue* queue = nullptr;
  };
  Visitor me() const noexcept { return {detail::this_stack, detail::this_stack->base, level_}; }
  void forget_those_of_the_parent() noexcept;

  std::array<Visit, 16> open_;
  unsigned level_ = 0;
  unsigned process_ = 0;  // forks before the first was opened
};

extern thread_local Visits visits;

// While one lives, the calling thread works on a seat that it has taken.
class AtSeat {
 public:
  explicit AtSeat(Worker& seat) noexcept : before_(detail::this_stack) {
    detail::this_stack = &seat.stack;
  }
  ~AtSeat() { detail::this_stack = before_; }
  AtSeat(AtSeat&&) = delete;
  AtSeat& operator=(AtSeat&&) = delete;

 private:
  detail::task_stack* const before_;
};

}  // namespace nigh::tasks
