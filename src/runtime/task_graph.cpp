// SPDX-License-Identifier: Apache-2.0
// Tasks with handles: how a task_scope starts, runs and ends them.
//
// A task that waits for predecessors is in no stack and no queue. The last predecessor that ends
// makes it ready: its thread puts the task into its own stack, or runs it next. So the task lies
// within the frame of that predecessor, and a scope that waits for the one waits for the other,
// without a count. By induction this holds for all tasks: each has predecessors of the same scope
// that were there before it, or is put into a stack or a queue when it is made.

#include <nigh/task_handle.hpp>
#include <nigh/task_scope.hpp>
#include <stdexcept>

#include "base/assert.hpp"
#include "base/race_detector.hpp"
#include "platform/futex.hpp"
#include "runtime/scheduler.hpp"

namespace nigh {

using detail::task_record;

namespace {

// The task that this thread puts into a queue. If the queue is full, the task begins here at once:
// it returns, and the thread runs it when it has come back from there, so that a long chain of
// tasks does not pile up on the thread's stack.
constinit thread_local task_record* being_queued = nullptr;

void doom(task_record& task, task_record& by) noexcept {
  if (task.is_doomed.exchange(true, sync::relaxed)) return;
  task.cause = by.status == task_status::failed ? &by : by.cause;
  if (task.cause != nullptr) task.cause->users.retain();
}

// Of a predecessor, or of the maker of `at`. True for the last one.
bool arrive(task_record& at) noexcept {
  base::announce_release(&at.predecessors);
  bool const is_last = at.predecessors.arrive();
  if (is_last) base::announce_acquire(&at.predecessors);  // (task_edges.P)
  return is_last;
}

void drop(task_record& task) noexcept {
  task.run(task, false);
  task.status = task_status::dropped;
}

}  // namespace

char const* task_dropped::what() const noexcept {
  return "the task was dropped: its task_scope was asked to stop";
}

task_record& task_handle<void>::record() const {
  if (record_ == nullptr) throw std::logic_error("this task_handle has no task");
  return *record_;
}

void task_record::await() { scope->await(*this); }

void task_record::rethrow() {
  auto* const thrower = status == task_status::failed ? this : cause;
  if (thrower == nullptr) throw task_dropped();
  thrower->was_rethrown.store(true, sync::relaxed);
  std::rethrow_exception(thrower->exception);
}

void task_record::release() noexcept {
  base::announce_release(&users);
  if (!users.release()) return;
  base::announce_acquire(&users);  // (task_edges.R)
  if (cause != nullptr) cause->release();
  destroy(*this);
}

void detail::ready_task::operator()() const noexcept { record->scope->run_ready(record); }

void task_scope::check(task_handle<> const* before, std::size_t count) const {
  for (std::size_t i = 0; i < count; ++i)
    if (!before[i].valid() || before[i].record_->scope != this)
      throw std::invalid_argument(before[i].valid()
                                      ? "after(): a task comes after tasks of its own task_scope"
                                      : "after(): a task_handle has no task");
}

void task_scope::start(task_record& task, task_handle<> const* before, detail::task_edge* edges,
                       std::size_t count) {
  task.predecessors.expect(static_cast<std::uint32_t>(count) + 1);
  for (std::size_t i = 0; i < count; ++i) {
    auto& one = *before[i].record_;
    edges[i].to = &task;
    base::announce_release(&one.successors);
    if (one.successors.add(edges[i])) continue;
    base::announce_acquire(&one.successors);  // (task_edges.S)
    if (one.status != task_status::succeeded) doom(task, one);
    static_cast<void>(arrive(task));
  }
  if (!arrive(task)) return;
  if (task.is_doomed.load(sync::relaxed)) {
    drop(task);
    auto* const ready = end(task, nullptr);
    NIGH_ASSERT(ready == nullptr, "nothing comes after a task whose handle nobody has yet");
  } else if (task.is_near) {
    spawn(task.where, detail::ready_task{&task});
  } else {
    spawn(detail::ready_task{&task});
  }
}

void task_scope::run_ready(task_record* task) noexcept {
  if (being_queued == task) {
    being_queued = nullptr;
    return;
  }
  for (task->next = nullptr; task != nullptr;) {
    detail::task_slot* const base = detail::this_stack->top;
    count_own_near(+1);
    if (stop_.is_requested()) {
      drop(*task);
    } else {
      try {
        task->run(*task, true);
        task->status = task_status::succeeded;
      } catch (...) {
        task->exception = std::current_exception();
        task->status = task_status::failed;
        keep_failed(*task);
      }
    }
    detail::finish_down_to(*detail::this_stack, base);
    count_own_near(-1);
    task = end(*task, task->next);
  }
}

// Tells the successors. Those that are ready now go into this thread's stack, or their queue, apart
// from one: it and those without room come before `todo` in what the thread runs next. Successors
// that are dropped end here, too, one after the other.
task_record* task_scope::end(task_record& first, task_record* todo) noexcept {
  task_record* dropped = nullptr;
  auto const run_here = [&](task_record& task) {
    task.next = todo;
    todo = &task;
  };
  auto const hand_out = [&](task_record& task) {
    if (!task.is_near) {
      if (!put(detail::ready_task{&task})) run_here(task);
      return;
    }
    task.users.retain();  // so that no other task gets its address meanwhile
    auto* const outer = std::exchange(being_queued, &task);
    spawn(task.where, detail::ready_task{&task});
    bool const came_back = being_queued == nullptr;
    being_queued = outer;
    if (came_back) run_here(task);
    task.release();
  };
  auto* const waiting = stack_->worker;
  for (auto* task = &first; task != nullptr;) {
    base::announce_release(&task->unfinished);
    task->unfinished.store(0, sync::seq_cst);  // (stack.E) (parking.S)
    if (waiting != nullptr)
      waiting->wake();
    else
      platform::futex_wake_all(task->unfinished);
    task_record* last = nullptr;
    base::announce_release(&task->successors);
    auto* edge = task->successors.close();
    base::announce_acquire(&task->successors);  // (task_edges.S)
    while (edge != nullptr) {
      auto& to = *edge->to;
      edge = edge->next;  // before `to` may end
      if (task->status != task_status::succeeded) doom(to, *task);
      if (!arrive(to)) continue;
      if (to.is_doomed.load(sync::relaxed)) {
        drop(to);
        to.next = dropped;
        dropped = &to;
        continue;
      }
      if (last != nullptr) hand_out(*last);
      last = &to;
    }
    if (last != nullptr) last->is_near ? hand_out(*last) : run_here(*last);
    task->release();
    task = dropped;
    if (task != nullptr) dropped = task->next;
  }
  return todo;
}

void task_scope::await(task_record& task) {
  if (detail::this_stack != stack_ || own_near_ != 0) {
    if (task.is_done()) return base::announce_acquire(&task.unfinished);  // (stack.E)
    throw std::logic_error(
        "task_handle::wait called for a task that has not ended, by another thread than the one "
        "that made its task_scope, or by a task of that scope: name it in after() instead");
  }
  if (stack_ == &detail::no_stack) {
    while (!task.is_done()) platform::futex_wait(task.unfinished, 1);
    return base::announce_acquire(&task.unfinished);  // (stack.E)
  }
  auto& me = *stack_->worker;
  while (!task.is_done() && stack_->top > base_)
    if (!me.run_top()) break;
  if (!task.is_done()) me.await_zero(task.unfinished);
  base::announce_acquire(&task.unfinished);  // (stack.E)
}

void task_scope::keep_failed(task_record& task) noexcept {
  if (rule_ == on_exception::cancel) request_stop();
  task.users.retain();
  task.next_failed = failed_tasks_.load(sync::relaxed);
  while (
      !failed_tasks_.compare_exchange_strong(task.next_failed, &task, sync::relaxed)) {
  }
  failed_.store(true, sync::relaxed);
}

// All have been kept by tasks that the scope has awaited. The list begins with the newest.
std::exception_ptr task_scope::take_first_failure() noexcept {
  failed_.store(false, sync::relaxed);
  std::exception_ptr first;
  for (auto* task = failed_tasks_.exchange(nullptr, sync::relaxed); task != nullptr;) {
    auto* const next = task->next_failed;
    if (!task->was_rethrown.load(sync::relaxed)) first = task->exception;
    task->release();
    task = next;
  }
  if (threw_.load(sync::relaxed)) {
    threw_.store(false, sync::relaxed);
    first = std::move(exception_);
    std::destroy_at(&exception_);
  }
  return first;
}

}  // namespace nigh
