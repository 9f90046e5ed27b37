// SPDX-License-Identifier: Apache-2.0
#include "runtime/current_thread.hpp"

#include <cstdio>
#include <cstdlib>
#include <nigh/child_task.hpp>
#include <utility>

#include "base/assert.hpp"
#include "policy/stealing/chunk_size.hpp"
#include "platform/thread.hpp"
#include "runtime/pool.hpp"
#include "runtime/scheduler.hpp"

namespace nigh::tasks {
namespace {

thread_local Worker* this_worker = nullptr;
constexpr std::uint64_t forks_per_sample = 1000;  // of the queue length, as in the paper

constinit thread_local bool is_ending = false;
struct EndOfThread {
  EndOfThread() noexcept {}
  ~EndOfThread() { is_ending = true; }
};

}  // namespace

constinit thread_local unsigned strangers_below = 0;

Worker* current_worker() noexcept { return this_worker; }

Worker* worker_at_home_in(Pool const& pool) noexcept {
  return this_worker != nullptr && &this_worker->pool == &pool ? this_worker : nullptr;
}

void await_end_of_this_thread() noexcept {
  thread_local EndOfThread const end;
  static_cast<void>(&end);
}
bool this_thread_is_ending() noexcept { return is_ending; }

void become(Worker& me) noexcept {
  this_worker = &me;
  detail::this_stack = &me.stack;
}

void name_this_thread(Worker const& me) noexcept {
  char name[32];
  std::snprintf(name, sizeof name, "nigh-%s-%d", me.is_worker() ? "worker" : "backup",
                me.index % me.pool.layout.workers());
  platform::name_this_thread(name);
}

void become_nobody() noexcept {
  this_worker = nullptr;
  detail::this_stack = &detail::no_stack;
}

bool Worker::may_fork() noexcept {
  auto const waiting =
      stack.index(stack.top) - detail::task_stack::tail_of(stack.shared.load(sync::relaxed));
  bool const may =
      stack.top < room_ends &&
      policy::forks(depth & ~mark_bits, waiting, {pool.options.depth_cutoff, pool.options.queue_cutoff});
  (may ? counters.forked : counters.serialized).add(1);
  if (!may) {
    trace.serialized();
  } else if (trace.is_on()) {
    trace.forked(stack.index(stack.top));
    if (counters.forked.get() % forks_per_sample == 0) trace.queue_length(waiting);
  }
  return may;
}

}  // namespace nigh::tasks

namespace nigh::detail {

constinit task_stack no_stack;
constinit task_stack ended_stack;
constinit task_slot no_slot[1]{};
constinit thread_local task_stack* this_stack = &no_stack;

task_stack* enter(tasks::Scheduler& host) {
  auto& pool = host.pool();
  auto* const before = this_stack;
  auto* const worker = before->worker;
  if (worker != nullptr && &worker->pool == &pool) return nullptr;
  auto* const home = worker != nullptr ? tasks::worker_at_home_in(pool) : nullptr;
  if (home != nullptr) {
    ++tasks::strangers_below;
    home->slots_elsewhere.fetch_sub(1, sync::relaxed);
    worker->left_home_at = {home->stack.top, home->set_depth(home->depth | worker->marks())};
    this_stack = &home->stack;
    return before;
  }
  auto* const slot = pool.threads.take_external();
  if (slot == nullptr && worker == nullptr) return nullptr;
  this_stack = slot != nullptr ? &slot->stack : &no_stack;  // not the slot of another runtime
  if (slot == nullptr) return before;
  auto const isolated = worker != nullptr && worker->is_isolated() ? tasks::Worker::isolated_bit : 0;
  slot->set_depth(isolated | (pool.gives_tasks ? tasks::Worker::resident_bit : 0));
  return before;
}

// Tasks of a scope of another thread, or of another slot, may be left. A thread that found no slot,
// or lost it in a forked child, has none to leave.
void leave(task_stack* before) noexcept {
  if (this_stack == &no_stack) {
    auto* const worker = before->worker;
    if (worker != nullptr && !worker->pool.is_inherited()) this_stack = before;
    return;
  }
  auto& me = *this_stack->worker;
  if (&me == tasks::current_worker()) {
    auto const& [top, depth] = before->worker->left_home_at;
    me.finish_down_to(top);
    me.set_depth(depth);
    me.slots_elsewhere.fetch_add(1, sync::relaxed);
    --tasks::strangers_below;
    this_stack = before;
    return;
  }
  me.finish_down_to(me.stack.slots);
  me.set_depth(0);
  this_stack = before;
  me.pool.threads.leave_external(me);
}

void refuse_second_join() noexcept {
  NIGH_ASSERT(false, "a child_task is joined once");
  std::abort();
}

void refuse_late_join() noexcept {
  NIGH_ASSERT(false, "a typed_task is joined before an older task_scope is waited for");
  std::abort();
}

slow_push::slow_push(outsiders rule)
    : external_(this_stack == &no_stack && rule == outsiders::enter ? &default_scheduler()
                                                                    : nullptr) {
  if (this_stack == &no_stack) return;
  auto& me = *this_stack->worker;
  if (!me.may_fork()) return;
  stack_ = this_stack;
  stack_->top->depth = ++me.depth;
  if (me.marks() != 0) me.mark(*stack_->top);
}

slow_push::~slow_push() {
  if (stack_ != nullptr) --stack_->worker->depth;
}

at_depth::at_depth(std::uint32_t depth) noexcept
    : before_(this_stack->worker->set_depth(
          depth | (this_stack->worker->depth & tasks::Worker::isolated_bit))) {}

at_depth::~at_depth() { this_stack->worker->set_depth(before_); }

}  // namespace nigh::detail
