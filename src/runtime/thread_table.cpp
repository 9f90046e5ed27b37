// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_table.hpp"

#include <nigh/blocking_scope.hpp>

#include "base/assert.hpp"
#include "platform/affinity.hpp"
#include "platform/futex.hpp"
#include "runtime/current_thread.hpp"
#include "runtime/pool.hpp"

namespace nigh::tasks {
namespace {

constexpr int external_slots = 64;

}  // namespace

// The stacks of backup and external threads are set up when first needed.
ThreadTable::ThreadTable(Pool& pool)
    : pool_(pool),
      workers_(static_cast<std::size_t>(pool.layout.workers())),
      follows_(pool.layout.loop_workers().homes() > 1),
      end_(static_cast<std::uint32_t>(workers_)),
      backups_(workers_) {
  auto const add = [&](policy::ThreadKind kind, int at_worker) -> Worker& {
    slots_.push_back(
        std::make_unique<Worker>(pool, static_cast<int>(slots_.size()), kind, at_worker));
    return *slots_.back();
  };
  int const n = pool.layout.workers();
  for (int w = 0; w < n; ++w) add(policy::ThreadKind::worker, w);
  for (int w = 0; w < n; ++w) {
    auto& backup = add(policy::ThreadKind::backup, w);
    backup.beside = &at_slot(w);
    backup.buffer = std::make_unique<LocalityQueue<detail::task>>(local_buffer_capacity);
  }
  for (int e = 0; e < external_slots; ++e) add(policy::ThreadKind::external, 0);
}

ThreadTable::~ThreadTable() {
  if (pool_.is_inherited()) {  // its threads are the parent's, and what they were using is left
    for (auto& slot : slots_) static_cast<void>(slot->buffer.release());
    return;
  }
  for (auto& slot : slots_)
    if (slot->stack.slots != nullptr)
      platform::unmap(slot->stack.slots, slot->stack.capacity * sizeof(detail::task_slot));
}

bool ThreadTable::start_workers(std::function<void(Worker&)> const& life, std::string& error) {
  for (auto const& w : workers()) {
    auto thread =
        platform::Thread::start(pool_.options.thread_stack_bytes, [life, &me = *w] { life(me); });
    if (!thread) {
      error = thread.message();
      return false;
    }
    threads_.push_back(*thread);
  }
  return true;
}

void ThreadTable::end_threads() noexcept {
  for (auto const& w : workers()) {
    auto& duty = backup_of(*w).duty;
    duty.store(Worker::ended, sync::seq_cst);  // (parking.S)
    platform::futex_wake_all(duty);
  }
  pool_.parking.wake_all();
  for (auto& t : threads_) t.join();
  for (auto& t : backups_)
    if (t) t->join();
}

void ThreadTable::raise_end(Worker const& slot) noexcept {
  auto end = end_.load(sync::relaxed);
  auto const behind = static_cast<std::uint32_t>(slot.index) + 1;
  while (end < behind &&
         !end_.compare_exchange_strong(end, behind, sync::seq_cst)) {  // (parking.S)
  }
}

// ---- external threads

// The worker on the external thread's cpu should not run there meanwhile: it is woken after all
// others, and does not stay awake to look for work.
Worker* ThreadTable::take_external() noexcept {
  if (pool_.is_inherited()) return nullptr;
  for (auto const& slot : externals()) {
    auto& me = *slot;
    if (!me.taken.try_lock()) continue;
    if (me.stack.slots == nullptr && !me.set_up_stack()) {
      me.taken.unlock();
      return nullptr;
    }
    auto* const here = worker_at_this_cpu();
    sit(me, here != nullptr ? *here : at_slot(0));
    raise_end(me);
    extras_present_.fetch_add(1, sync::seq_cst);  // (parking.S)
    me.trace.task_begin();
    return &me;
  }
  return nullptr;
}

void ThreadTable::leave_external(Worker& me) noexcept {
  NIGH_ASSERT(me.stack.top == me.stack.slots,
              "an external thread leaves with all its tasks joined");
  me.trace.task_end();
  pool_.parking.displace(me.beside->index, -1);
  extras_present_.fetch_sub(1, sync::seq_cst);  // (parking.S)
  me.taken.unlock();
}

Worker* ThreadTable::worker_at_this_cpu() const noexcept {
  int const cpu = platform::current_cpu();
  int const w = cpu < 0 ? -1 : pool_.layout.worker_at_cpu(cpu);
  return w < 0 ? nullptr : slots_[static_cast<std::size_t>(w)].get();
}

void ThreadTable::sit(Worker& external, Worker& beside) noexcept {
  external.beside = &beside;
  external.cpu = beside.cpu;
  external.domain = beside.domain;
  external.group = beside.group;
  external.victims = beside.victims;
  external.near_worker.store(beside.index, sync::relaxed);
  pool_.parking.displace(beside.index, 1);
}

void ThreadTable::move_to_here(Worker& external) noexcept {
  auto* const here = worker_at_this_cpu();
  if (here == nullptr || here->group == external.group) return;
  pool_.parking.displace(external.beside->index, -1);
  sit(external, *here);
}

// ---- backup threads

bool ThreadTable::start_backup(Worker& worker) noexcept {
  if (!worker.is_worker() || worker.relieved) return false;
  worker.share_all();
  auto& backup = backup_of(worker);
  {
    std::lock_guard const guard(backups_lock_);
    auto& thread = backups_[at(worker)];
    if (!thread) {
      if (backup.stack.slots == nullptr && !backup.set_up_stack()) return false;
      auto started = platform::Thread::start(pool_.options.thread_stack_bytes,
                                             [this, &backup] { back_up(backup); });
      if (!started) return false;
      thread = *started;
      raise_end(backup);
    }
  }
  worker.relieved = true;
  backup.duty.store(Worker::on, sync::seq_cst);  // (parking.W)
  platform::futex_wake_all(backup.duty);
  return true;
}

void ThreadTable::dismiss_backup(Worker& worker) noexcept {
  worker.relieved = false;
  auto& backup = backup_of(worker);
  std::uint32_t expected = Worker::on;
  if (backup.duty.compare_exchange_strong(expected, Worker::off, sync::seq_cst))  // (parking.S)
    backup.wake();
}

void ThreadTable::back_up(Worker& me) noexcept {
  if (pool_.machine.is_this_host()) static_cast<void>(platform::pin_this_thread({&me.cpu, 1}));
  become(me);
  for (;;) {
    auto const duty = me.duty.load(sync::acquire);  // (parking.W)
    if (duty == Worker::ended) return;
    if (duty == Worker::off) {
      platform::futex_wait(me.duty, Worker::off);
      continue;
    }
    extras_present_.fetch_add(1, sync::seq_cst);  // (parking.S)
    pool_.arena->woke();
    me.run_until_dismissed();
    pool_.arena->falls_asleep();
    extras_present_.fetch_sub(1, sync::seq_cst);  // (parking.S)
    me.report_progress();
    if (!me.buffer->empty())  // left to other threads
      pool_.parking.notify(me.group, pool_.layout.reach(me.group));
  }
}

}  // namespace nigh::tasks

namespace nigh {

blocking_scope::blocking_scope() {
  auto* const me = tasks::current_worker();
  if (me != nullptr && detail::this_stack == &me->stack && me->pool.threads.start_backup(*me))
    worker_ = me;
}

blocking_scope::~blocking_scope() {
  if (worker_ != nullptr) worker_->pool.threads.dismiss_backup(*worker_);
}

}  // namespace nigh
