// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether this process' tasks are nigh's: all, or none.

#include <cstdint>

#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

enum class Left : std::uint8_t {
  none,                // they are nigh's
  unknown,             // not looked at yet
  switched_off,        // NIGH_TASKS=off
  no_tasks,            // no loaded object makes any
  cancellation,        // OMP_CANCELLATION
  unbounded,           // KMP_ENABLE_TASK_THROTTLING=0: any number of tasks waits
  priorities,          // OMP_MAX_TASK_PRIORITY
  device,              // target regions that are tasks
  tool,                // an OMPT tool sees them
  unknown_calls,       // functions of libomp for tasks that nigh does not have
  unknown_dependence,  // a kind that nigh does not know
};

// A task has been made of which nobody knew that it would: a library was opened.
NIGH_HIDDEN void look_again() noexcept;

// From the next region on.
NIGH_HIDDEN void leave_alone(Left) noexcept;

// Looks at what the loaded objects call, when a region begins.
NIGH_HIDDEN Left why_left_alone() noexcept;

// Whether a loaded object of gcc's may have loops with reduction(task, ...).
NIGH_HIDDEN bool reduces_tasks_of_loops() noexcept;

// NIGH_TASKS and others; once.
NIGH_HIDDEN void begin_deciding() noexcept;

}  // namespace nigh::openmp::tasks
