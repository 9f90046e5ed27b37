// SPDX-License-Identifier: Apache-2.0
// The part of nigh::task_scope that need not be inlined.

#include <cstdlib>
#include <nigh/task_scope.hpp>
#include <stdexcept>

#include "base/assert.hpp"
#include "base/race_detector.hpp"
#include "platform/futex.hpp"
#include "runtime/scheduler.hpp"

namespace nigh {

task_scope::task_scope(task_scope_options options)
    : stack_(detail::this_stack), base_(stack_->top), rule_(options.rule) {
  stop_.parent = options.parent.state_;
  if (options.where != nullptr || stack_ == &detail::no_stack) enter(options.where);
}

// A thread that is not one of the runtime's takes the slot of an external thread.
void task_scope::enter(runtime* where) {
  host_ = where != nullptr ? where : &default_runtime();
  before_ = detail::enter(detail::runtime_access::scheduler(*host_));
  stack_ = detail::this_stack;
  base_ = stack_->top;
}

void task_scope::leave() {
  if (before_ != nullptr) detail::leave(before_);
  if (!failed_.load(sync::relaxed)) return;
  auto const first = take_first_failure();
  if (first && std::uncaught_exceptions() <= in_flight_) std::rethrow_exception(first);
}

detail::task_stack* task_scope::stack_of_spawner() const noexcept {
  NIGH_ASSERT(stack_ != &detail::ended_stack,
              "nothing is spawned into a task_scope that has ended");
  auto* const here = detail::this_stack;
  auto const* const host = here->worker;
  auto const* const ours = stack_->worker;
  return host != nullptr && ours != nullptr && &host->pool == &ours->pool ? here : nullptr;
}

void task_scope::await_near() noexcept {
  NIGH_ASSERT(own_near_ == 0, "a task does not wait for the scope it belongs to");
  if (stack_ != &detail::no_stack) {
    auto& me = *stack_->worker;
    me.await_zero(near_pending_);
    return;
  }
  for (;;) {
    auto const n = near_pending_.load(sync::acquire);  // (stack.E)
    base::announce_acquire(&near_pending_);
    if (n == 0) return;
    platform::futex_wait(near_pending_, n);
  }
}

// The scope may be gone as soon as its count is 0.
void task_scope::end_near(detail::task_slot* base) noexcept {
  detail::finish_down_to(*detail::this_stack, base);
  auto* const waiting = stack_->worker;
  count_own_near(-1);
  base::announce_release(&near_pending_);
  if (near_pending_.fetch_sub(1, sync::seq_cst) != 1) return;  // (stack.E) (parking.S)
  if (waiting != nullptr)
    waiting->wake();
  else
    platform::futex_wake_all(near_pending_);
}

tasks::Scheduler& task_scope::host() const {
  auto* const ours = stack_->worker;
  return ours != nullptr ? ours->pool.scheduler : detail::runtime_access::scheduler(*host_);
}

near task_scope::resolved(near where) const { return host().resolved(where); }

void task_scope::submit_near(near where, detail::task t) { host().submit_or_run(where, t); }

void task_scope::keep_exception() noexcept {
  if (rule_ == on_exception::cancel) request_stop();
  if (!threw_.exchange(true, sync::relaxed))
    ::new (&exception_) std::exception_ptr(std::current_exception());
  failed_.store(true, sync::relaxed);
}

void task_scope::rethrow() {
  auto const first = take_first_failure();
  if (first) std::rethrow_exception(first);
}

void task_scope::refuse_to_wait() const {
  NIGH_ASSERT(stack_ != &detail::ended_stack, "nobody waits for a task_scope that has ended");
  throw std::logic_error(
      "task_scope::wait called by another thread than the one that made the scope");
}

void task_scope::refuse_to_end() noexcept {
  NIGH_ASSERT(false,
              "a task_scope is destroyed by the thread that made it, after those made later");
  std::abort();
}

}  // namespace nigh
