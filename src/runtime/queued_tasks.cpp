// SPDX-License-Identifier: Apache-2.0
// How a thread finds queued tasks, and runs them.

#include <array>

#include "base/assert.hpp"
#include "platform/thread.hpp"
#include "runtime/scheduler.hpp"
#include "runtime/worker.hpp"

namespace nigh::tasks {

bool Worker::is_stack_short(std::size_t times) const noexcept {
  return platform::stack_left() <= times * pool.stack_needed_to_help();
}

// From its own buffer, otherwise a chunk from its group's queue.
bool Worker::find_in_own_queue(detail::task& t) noexcept {
  if (buffer->take_one(t)) return true;
  // Perhaps an external thread has come, and put these.
  if (pool.group(group).queue->empty() || is_held_off()) return false;
  std::array<detail::task, policy::largest_chunk> chunk;
  std::size_t count = 0;
  auto const how_many = [&](std::size_t waiting) {
    return policy::chunk_of_own_queue(waiting, pool.layout.group(group).workers.size());
  };
  if (pool.group(group).queue->take(chunk, count, how_many) != Take::taken) return false;
  t = chunk[0];
  if (count > 1) {
    bool const fits = buffer->push({chunk.data() + 1, count - 1});
    NIGH_ASSERT(fits, "a chunk goes into an empty buffer");
  }
  return true;
}

bool Worker::find_imported(detail::task& t) noexcept {
  if (!pool.source.find(t)) return false;
  tasks.count_spawned();
  return true;
}

// A thread that is no worker enters the pool for the call: tasks that this one forks belong to the
// pool.
void run_queued(Pool& pool, detail::task& t, Worker* me) noexcept {
  bool const is_changed = me != nullptr && t.is_resident != me->is_resident();
  auto const before = is_changed ? me->set_depth(me->depth ^ Worker::resident_bit) : 0;
  {
    detail::external_thread const entered(me == nullptr ? &pool.scheduler : nullptr);
    TaskFrame const frame(t.domain, t.bytes);
    try {
      t.call(t.storage);
    } catch (...) {
      pool.failure.keep();
    }
  }
  if (is_changed) me->set_depth(before);
  if (pool.options.pending_limit > 0) pool.pending.fetch_sub(1, sync::relaxed);
  if (me != nullptr) me->counters.count(me->domain, t.domain, t.bytes);
  if (me != nullptr && !me->is_external()) {
    me->tasks.count_finished();
  } else {
    pool.tasks_of_others.count_finished();
    pool.quiescence.tell_if_done([&] { return pool.all_done(); });
  }
}

void Worker::report_progress() noexcept {
  if (!tasks.has_news()) return;
  tasks.publish();
  if (trace.is_on() && pool.all_done()) trace.all_done();
  pool.quiescence.tell_if_done([&] { return pool.all_done(); });
}

bool Worker::may_nest() const noexcept {
  return !is_isolated() && !is_stack_short(1);
}

void Worker::nest(detail::task& t) noexcept {
  tasks.count_spawned();
  run_queued(pool, t, this);
}

}  // namespace nigh::tasks
