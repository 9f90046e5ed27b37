// SPDX-License-Identifier: Apache-2.0
// Stand-ins: threads that work on a worker's cpu while it is in a blocking_scope.

#include <nigh/blocking_scope.hpp>

#include "platform/affinity.hpp"
#include "platform/futex.hpp"
#include "tasks/current.hpp"
#include "tasks/until.hpp"

namespace nigh {
namespace detail {

void scheduler::call_stand_in(Worker& blocked) noexcept {
  share_all(blocked);
  auto& me = worker(worker_count_ + blocked.seat);
  {
    std::lock_guard const guard(stand_ins_lock_);
    auto& thread = stand_ins_[static_cast<std::size_t>(blocked.seat)];
    if (!thread) {
      if (me.stack.slots == nullptr && !set_up_stack(me)) return;
      auto started =
          platform::Thread::start(options_.thread_stack_bytes, [this, &me] { stand_in(me); });
      if (!started) return;
      thread = *started;
      raise_extras_end(me.seat);
    }
  }
  me.duty.store(Worker::on, sync::seq_cst);
  platform::futex_wake_all(me.duty);
}

void scheduler::dismiss_stand_in(Worker& blocked) noexcept {
  auto& me = worker(worker_count_ + blocked.seat);
  std::uint32_t expected = Worker::on;
  if (me.duty.compare_exchange_strong(expected, Worker::off, sync::seq_cst))  // (S)
    parking_->wake(me.seat, me.home);
}

void scheduler::stand_in(Worker& me) noexcept {
  if (machine_.is_this_host()) static_cast<void>(platform::pin_this_thread({&me.cpu, 1}));
  current = {this, &me};
  this_stack = &me.stack;
  for (;;) {
    auto const duty = me.duty.load(sync::acquire);
    if (duty == Worker::ended) return;
    if (duty == Worker::off) {
      platform::futex_wait(me.duty, Worker::off);
      continue;
    }
    extras_present_.fetch_add(1, sync::seq_cst);  // (S)
    serve(me, Dismissal{me});
    extras_present_.fetch_sub(1, sync::seq_cst);
    report_progress(me);
    if (!me.ring->empty()) parking_->notify(me.home, may_run_abroad());  // left to the others
  }
}

}  // namespace detail

blocking_scope::blocking_scope() {
  auto* const me = detail::current.worker;
  if (me == nullptr || me->role != tasks::Role::worker || me->in_blocking_scope ||
      detail::this_stack != &me->stack)
    return;
  me->in_blocking_scope = true;
  me->host.call_stand_in(*me);
  worker_ = me;
}

blocking_scope::~blocking_scope() {
  if (worker_ == nullptr) return;
  auto& me = *static_cast<tasks::Worker*>(worker_);
  me.in_blocking_scope = false;
  me.host.dismiss_stand_in(me);
}

}  // namespace nigh
