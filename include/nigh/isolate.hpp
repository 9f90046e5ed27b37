// SPDX-License-Identifier: Apache-2.0
#pragma once
// this_task_region::isolate(f): a thread that waits inside runs no task from outside.

#include <nigh/detail/cxx20.hpp>

#include <cstdint>
#include <nigh/detail/export.hpp>
#include <nigh/detail/task_stack.hpp>
#include <utility>

namespace nigh {

namespace detail {

// As long as one lives, the calling thread is in an isolated region. Its end waits for the tasks
// that were spawned in it.
class NIGH_API isolation {
 public:
  isolation();
  ~isolation();
  isolation(isolation&&) = delete;
  isolation& operator=(isolation&&) = delete;

 private:
  task_stack* before_ = nullptr;  // of an external thread: the stack it had
  task_stack* stack_;
  task_slot* base_;
  std::uint32_t depth_ = 0;
};

NIGH_API bool in_isolated_region() noexcept;
// Whether a task may run on top of the one that makes it, as each of a long chain may: there is
// stack enough, or the task has to run here.
NIGH_API bool may_run_at_once() noexcept;

}  // namespace detail

namespace this_task_region {

// Calls f() in an isolated region and returns its result: while a thread waits there (in a
// fork_join, a loop, a scope, a get()), it runs no task that was spawned outside. So f may hold a
// lock across such a wait, or keep something in a thread-local variable: no task that wants the
// same comes in between on this thread. Tasks that are spawned inside belong to the region, on
// whichever thread they run, and so do all that they spawn. Returns when these have ended.
//
// A thread that waits in a region runs its own tasks of the region, and none of other threads,
// which take tasks of the region as ever. Its backup thread works on its cpu meanwhile, as in a
// blocking_scope: it is woken after about 50 us of waiting. So a region costs more than a plain
// call where threads wait long, and tasks there take a slower path: some nanoseconds each.
//
// task_scope::spawn(near, f) inside puts f into the thread's own task stack, as spawn(f) does: a
// queue is not of the region. runtime::spawn() is outside of every region. Wait inside for nothing
// that was spawned outside, such as an outer scope: no thread might be left to run it.
//
// Regions nest. Any thread may call it; one that is not a runtime's becomes an external thread of
// the default runtime meanwhile. An exception of f comes out.
template <class F>
decltype(auto) isolate(F&& f) {
  detail::isolation const region;
  return std::forward<F>(f)();
}

}  // namespace this_task_region
}  // namespace nigh
