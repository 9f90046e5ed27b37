// SPDX-License-Identifier: Apache-2.0
// Stand-ins: threads that work on a worker's cpu while it is in a blocking_scope, or waits in a
// join with so little of its thread's stack left that it cannot help.

#include <nigh/blocking_scope.hpp>

#include "platform/affinity.hpp"
#include "platform/futex.hpp"
#include "runtime/current.hpp"
#include "runtime/until.hpp"

namespace nigh {
namespace detail {

bool scheduler::relieve(Worker& worn) noexcept {
  if (worn.role != tasks::Role::worker || worn.relieved) return false;
  share_all(worn);
  auto& me = worker(worker_count_ + worn.seat);
  {
    std::lock_guard const guard(stand_ins_lock_);
    auto& thread = stand_ins_[static_cast<std::size_t>(worn.seat)];
    if (!thread) {
      if (me.stack.slots == nullptr && !set_up_stack(me)) return false;
      auto started =
          platform::Thread::start(options_.thread_stack_bytes, [this, &me] { stand_in(me); });
      if (!started) return false;
      thread = *started;
      raise_extras_end(me.seat);
    }
  }
  worn.relieved = true;
  me.duty.store(Worker::on, sync::seq_cst);
  platform::futex_wake_all(me.duty);
  return true;
}

void scheduler::resume(Worker& worn) noexcept {
  worn.relieved = false;
  auto& me = worker(worker_count_ + worn.seat);
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
    if (arena_ != nullptr) arena_->woke();
    serve(me, Dismissal{me});
    if (arena_ != nullptr) arena_->falls_asleep();
    extras_present_.fetch_sub(1, sync::seq_cst);
    report_progress(me);
    if (!me.ring->empty()) parking_->notify(me.home, layout_.reach(me.home));  // left to the others
  }
}

}  // namespace detail

blocking_scope::blocking_scope() {
  auto* const me = detail::current.worker;
  if (me != nullptr && detail::this_stack == &me->stack && me->host.relieve(*me)) worker_ = me;
}

blocking_scope::~blocking_scope() {
  if (worker_ != nullptr) worker_->host.resume(*worker_);
}

}  // namespace nigh
