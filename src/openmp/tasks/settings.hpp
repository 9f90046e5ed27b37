// SPDX-License-Identifier: Apache-2.0
#pragma once
// A setting that a task makes by omp_set_num_threads() and its like holds in that task and in
// those it makes afterwards, wherever they run; so it does for a thread's part of a region, its
// implicit task. The runtime keeps settings for each of its threads.

#include "openmp/tasks/team.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

// A new child of a task that has settings of its own.
NIGH_HIDDEN void inherit_settings(Member& me, Task& t) noexcept;
// The thread has those of the task until the body ends.
NIGH_HIDDEN void begin_settings(Task& t) noexcept;
NIGH_HIDDEN void end_settings(Task& t) noexcept;
// A task with settings of its own; or one without, on top of one with: it runs with those that held
// before.
NIGH_HIDDEN void run_with_settings(Member& me, Task& t) noexcept;

// Team::call: the runtime's tasks get the settings that its threads began the region with, not
// those of the task that the thread is in.
NIGH_HIDDEN void call_by_settings_before(Member& me, std::uint32_t tasks) noexcept;

// Around a call of the program that changes a setting.
NIGH_HIDDEN void before_setting() noexcept;
NIGH_HIDDEN void after_setting() noexcept;

}  // namespace nigh::openmp::tasks
