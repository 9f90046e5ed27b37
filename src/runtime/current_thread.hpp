// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which thread of which pool is the calling thread? Its task stack is detail::this_stack, which
// public headers read (nigh/detail/task_stack.hpp). The slow paths from those headers into the
// runtime are here, too.

#include <nigh/detail/task_stack.hpp>

namespace nigh::tasks {

struct Pool;
struct Worker;

// The worker or backup thread that the calling thread is for its whole life; null: neither.
Worker* current_worker() noexcept;
// The same if it is one of this pool's. It may have gone on into another runtime from there: as an
// external thread of its own pool it would wait for tasks that only it can take.
Worker* worker_at_home_in(Pool const& pool) noexcept;
// How many times the running task lies on top of one that happens to be there and knows nothing of it:
// tasks that nigh_steal() runs, and those of a worker that has come back home from another runtime.
extern constinit thread_local unsigned strangers_below;
void become(Worker& me) noexcept;
// "nigh-worker-3"; the backup thread of that worker is "nigh-backup-3".
void name_this_thread(Worker const& me) noexcept;
void become_nobody() noexcept;  // in a child of fork()

// exit() ends what is local to its thread before it destroys what is static. So a destructor that asks for this
// knows whether exit(), or the end of this thread, calls it; in threads that have called the first of these.
void await_end_of_this_thread() noexcept;
bool this_thread_is_ending() noexcept;

// How often this process and its ancestors have forked since the library was first used: tells a
// child's copies of runtimes from its own. In runtime.cpp.
unsigned count_forks() noexcept;   // begins to count with its first call, and returns the number
unsigned forks_so_far() noexcept;  // the number alone

}  // namespace nigh::tasks
