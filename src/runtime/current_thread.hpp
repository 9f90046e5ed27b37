// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which thread of which pool the calling thread is. Its task stack is detail::this_stack, which
// public headers read (nigh/detail/task_stack.hpp); the slow ways from there into the runtime are
// here, too.

#include <nigh/detail/task_stack.hpp>

namespace nigh::tasks {

struct Pool;
struct Worker;

// The worker or backup thread that the calling thread is for its whole life; null: neither.
Worker* current_worker() noexcept;
void become(Worker& me) noexcept;
void become_nobody() noexcept;  // in a child of fork()

// The calling thread works for a pool, in the slot of an external thread, as long as this lives. It
// does nothing where the thread is one of the pool's already, or for null. With all slots taken,
// the thread is in none meanwhile.
class EntersPool {
 public:
  explicit EntersPool(Pool* pool);
  ~EntersPool();
  EntersPool(EntersPool&&) = delete;
  EntersPool& operator=(EntersPool&&) = delete;

 private:
  detail::task_stack* before_;
};

// How often this process and those it descends from have forked, since the library was first used:
// tells a child's copies of runtimes from its own.
unsigned forks_so_far() noexcept;  // registers what counts them
unsigned forks_counted() noexcept;

}  // namespace nigh::tasks
