// SPDX-License-Identifier: Apache-2.0
#include "runtime/task_frame.hpp"

#include "platform/thread.hpp"
#include "runtime/scheduler.hpp"

namespace nigh::tasks {

// A thread that is no worker enters the pool for the call: tasks that this one forks belong to the
// pool.
void run_queued(Pool& pool, detail::task& t, Worker* me) noexcept {
  {
    detail::external_thread const entered(me == nullptr ? &pool.scheduler : nullptr);
    TaskFrame const frame(t.domain, t.bytes);
    try {
      t.call(t.storage);
    } catch (...) {
      pool.failure.keep();
    }
  }
  if (pool.options.pending_limit > 0) pool.pending.fetch_sub(1, sync::relaxed);
  if (me != nullptr) {
    me->counters.count(me->domain, t.domain, t.bytes);
    me->tasks.count_finished();
  } else {
    pool.tasks_of_others.count_finished();
    pool.quiescence.tell_if_done([&] { return pool.all_done(); });
  }
}

bool Worker::may_nest() const noexcept {
  return !is_isolated() && platform::stack_left() > pool.stack_needed_to_help();
}

void Worker::nest(detail::task& t) noexcept {
  tasks.count_spawned();
  run_queued(pool, t, this);
}

}  // namespace nigh::tasks
