// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tasks near their data: a locality queue for each domain of a team, oldest task first. The threads
// of a domain take from their own queue when their own deques are empty. Others take from it when
// they find nothing else (prefer), or never (strict): then only a thread that waits for such a task
// runs it, and only before it would sleep, so that no two domains wait for each other.

#include "openmp/tasks/team.hpp"
#include "platform/plain_domains.hpp"
#include "preload/hidden.hpp"

namespace nigh::openmp::tasks {

struct NearQueues {
  std::array<TaskList, platform::most_domains> of;
};

// NIGH_TASKS: a list of words.
NIGH_HIDDEN void begin_near_data() noexcept;
NIGH_HIDDEN bool hints_by_depend() noexcept;  // data=depend
// strict, and there are several: a thread may come to wait for what only threads elsewhere run.
NIGH_HIDDEN bool tasks_stay_in_domains() noexcept;

// A task that says what it works on. False: nobody knows where that lies, or no thread of the team
// is there.
NIGH_HIDDEN bool submit_near(Member& me, Task& t) noexcept;

NIGH_HIDDEN Task* take_near(Member& me) noexcept;  // of the thread's own domain
// Of others, nearest numbers first; `is_last_resort`: before the thread would sleep.
NIGH_HIDDEN Task* take_from_afar(Member& me, bool is_last_resort) noexcept;

// For a thread at a barrier that is about to sleep: is there a task that it would take?
NIGH_HIDDEN bool is_any_near(Member const& me) noexcept;

NIGH_HIDDEN void end_near_data(Team& team) noexcept;

}  // namespace nigh::openmp::tasks
