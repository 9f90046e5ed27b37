// SPDX-License-Identifier: Apache-2.0
// Threads that are no workers, for the time they use a runtime; and the slow ways into a task
// stack.

#include <cstdlib>
#include <nigh/child_task.hpp>
#include <utility>

#include "platform/affinity.hpp"
#include "runtime/current.hpp"
#include "runtime/scheduler.hpp"

namespace nigh::detail {

constinit task_stack no_stack;
constinit task_stack ended_stack;
constinit task_slot no_slot[1]{};
constinit thread_local task_stack* this_stack = &no_stack;

void scheduler::raise_extras_end(int seat) noexcept {
  auto end = extras_end_.load(sync::relaxed);
  while (end <= seat && !extras_end_.compare_exchange_strong(end, seat + 1, sync::seq_cst)) {
  }
}

// The worker on the guest's cpu has no business there meanwhile: it is not woken before the others,
// and does not stay awake to look for work.
scheduler::Worker* scheduler::take_seat() noexcept {
  if (inherited()) return nullptr;
  for (auto at = 2 * static_cast<std::size_t>(worker_count_); at < seats_.size(); ++at) {
    auto& me = *seats_[at];
    std::uint32_t expected = Worker::off;
    if (me.duty.load(sync::relaxed) != Worker::off ||
        !me.duty.compare_exchange_strong(expected, Worker::on, sync::acquire))  // (L)
      continue;
    if (me.stack.slots == nullptr && !set_up_stack(me)) {
      me.duty.store(Worker::off, sync::release);  // (L)
      return nullptr;
    }
    auto* const here = worker_here();
    sit(me, here != nullptr ? *here : worker(0));
    raise_extras_end(me.seat);
    extras_present_.fetch_add(1, sync::seq_cst);  // (S)
    if (me.track != nullptr) me.track->task_begin();
    return &me;
  }
  return nullptr;
}

scheduler::Worker* scheduler::worker_here() const noexcept {
  int const cpu = platform::current_cpu();
  int const w = cpu < 0 ? -1 : layout_.worker_at_cpu(cpu);
  return w < 0 ? nullptr : seats_[static_cast<std::size_t>(w)].get();
}

void scheduler::sit(Worker& guest, Worker& beside) noexcept {
  guest.beside = &beside;
  guest.cpu = beside.cpu;
  guest.domain = beside.domain;
  guest.home = beside.home;
  guest.plan = beside.plan;
  guest.near_worker.store(beside.seat, sync::relaxed);
  parking_->displace(beside.seat, 1);
}

void scheduler::follow_guest(Worker& guest) noexcept {
  auto* const here = worker_here();
  if (here == nullptr || here->home == guest.home) return;
  parking_->displace(guest.beside->seat, -1);
  sit(guest, *here);
}

void scheduler::leave_seat(Worker& guest) noexcept {
  NIGH_ASSERT(guest.stack.top == guest.stack.slots, "a guest leaves with all its tasks joined");
  if (guest.track != nullptr) guest.track->task_end();
  parking_->displace(guest.beside->seat, -1);
  extras_present_.fetch_sub(1, sync::seq_cst);
  guest.duty.store(Worker::off, sync::release);  // (L)
}

task_stack* enter(scheduler& host) {
  auto* const before = this_stack;
  auto* const worker = before->worker;
  if (worker != nullptr && &worker->host == &host) return nullptr;
  auto* const seat = host.take_seat();
  if (seat == nullptr && worker == nullptr) return nullptr;
  this_stack = seat != nullptr ? &seat->stack : &no_stack;  // not that of another runtime
  return before;
}

// Tasks of a scope of another thread, or of another seat, may be left. A thread that found no seat,
// or lost it in a forked child, has none to leave.
void leave(task_stack* before) noexcept {
  if (this_stack == &no_stack) {
    auto* const worker = before->worker;
    if (worker != nullptr && !worker->host.inherited()) this_stack = before;
    return;
  }
  auto& me = *this_stack->worker;
  finish_down_to(me.stack, me.stack.slots);
  this_stack = before;
  me.host.leave_seat(me);
}

void share_tasks(task_stack& stack) noexcept {
  auto& me = *stack.worker;
  me.host.share(me);
}

void finish_top(task_stack& stack) noexcept {
  auto& me = *stack.worker;
  me.host.finish_top(me);
}

void finish_down_to(task_stack& stack, task_slot* top) noexcept {
  if (stack.top > top) stack.worker->host.finish_down_to(*stack.worker, top);
}

// A scope that the forked function waited at may have run the task already, together with its own.
void join_slowly(task_stack& stack, task_slot* slot, void const* object) noexcept {
  NIGH_ASSERT(slot >= stack.slots && slot < stack.slots + stack.capacity,
              "a child_task is joined by the thread that made it");
  if (slot < stack.top && slot->object == object) finish_down_to(stack, slot);
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
    : guest_(this_stack == &no_stack && rule == outsiders::enter ? &default_scheduler() : nullptr) {
  if (this_stack == &no_stack) return;
  auto& me = *this_stack->worker;
  if (!me.host.may_fork(me)) return;
  stack_ = this_stack;
  stack_->top->depth = ++me.depth;
}

slow_push::~slow_push() {
  if (stack_ != nullptr) --stack_->worker->depth;
}

at_depth::at_depth(std::uint32_t depth) noexcept
    : before_(std::exchange(this_stack->worker->depth, depth)) {}

at_depth::~at_depth() { this_stack->worker->depth = before_; }

}  // namespace nigh::detail
