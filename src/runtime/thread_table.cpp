// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_table.hpp"

#include <nigh/blocking_scope.hpp>
#include <utility>

#include "base/assert.hpp"
#include "platform/affinity.hpp"
#include "platform/futex.hpp"
#include "runtime/current_thread.hpp"
#include "runtime/pool.hpp"

namespace nigh::tasks {
namespace {

constexpr int external_slots = 64;

}  // namespace

Worker::Worker(Pool& pool_, int index_, policy::ThreadKind kind_, int at_worker)
    : pool(pool_),
      index(index_),
      kind(kind_),
      cpu(pool.layout.cpu_of(at_worker)),
      domain(pool.layout.domain_of(at_worker)),
      group(pool.layout.group_of(at_worker)),
      counters(pool.machine.domains().size()),
      victims(&pool.layout.victims_of(at_worker)),
      near_worker(at_worker),
      // Spread over all bits: a small seed's first draws are small, and all thieves would begin
      // with their neighbours.
      random_bits((static_cast<std::uint32_t>(index_) + 1) * 0x9e3779b9u) {
  stack.worker = this;
}

// An empty slot is all zeroes, so the memory is first touched by the pushes that need it.
bool Worker::set_up_stack() noexcept {
  auto const capacity = pool.options.task_capacity;
  auto* const slots = static_cast<detail::task_slot*>(
      platform::map_zeroes(capacity * sizeof(detail::task_slot)));
  if (slots == nullptr) return false;
  stack.slots = stack.base = slots;
  stack.split.store(slots, sync::relaxed);
  stack.top = slots;
  stack.capacity = static_cast<std::uint32_t>(capacity);
  room_ends = slots + capacity;
  stack.limit = pool.limits_forks() || marks() != 0 ? slots : room_ends;
  bool const offers_unasked =
      pool.layout.workers() > 1 || !is_worker() || pool.gives_tasks;
  stack.share_goal = offers_unasked ? policy::tasks_kept_shared : 0;
  stack.wanted.store(offers_unasked, sync::relaxed);
  return true;
}

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

Worker* ThreadTable::take_external() noexcept {
  if (pool_.is_inherited()) return nullptr;
  await_end_of_this_thread();
  for (auto const& slot : externals()) {
    auto& me = *slot;
    if (!me.taken.try_lock()) continue;
    if (me.stack.slots == nullptr && !me.set_up_stack()) {
      me.taken.unlock();
      return nullptr;
    }
    me.visits.store(me.visits.load(sync::relaxed) + 1, sync::relaxed);
    me.clock.store(platform::clock_of_this_thread(), sync::relaxed);
    auto* const here = worker_at_this_cpu();
    sit(me, here != nullptr ? *here : at_slot(0));
    raise_end(me);
    extras_present_.fetch_add(1, sync::seq_cst);  // (parking.S)
    if (auto* const at_home = current_worker()) at_home->slots_elsewhere.fetch_add(1, sync::relaxed);
    me.trace.task_begin();
    return &me;
  }
  return nullptr;
}

void ThreadTable::leave_external(Worker& me) noexcept {
  NIGH_ASSERT(me.stack.top == me.stack.slots,
              "an external thread leaves with all its tasks joined");
  me.trace.task_end();
  if (auto* const at_home = current_worker()) at_home->slots_elsewhere.fetch_sub(1, sync::relaxed);
  put_back_neighbour(me);
  extras_present_.fetch_sub(1, sync::seq_cst);  // (parking.S)
  me.taken.unlock();
}

Worker* ThreadTable::worker_at_this_cpu() const noexcept {
  int const cpu = platform::current_cpu();
  int const w = cpu < 0 ? -1 : pool_.layout.worker_at_cpu(cpu);
  return w < 0 ? nullptr : slots_[static_cast<std::size_t>(w)].get();
}

// Displaces `here`, or the nearest worker that is not displaced and may run. Two threads that come
// at once and choose the same one choose again.
Worker& ThreadTable::place_near(Worker& here) noexcept {
  auto const has_its_place = [&](Worker const& w) {
    return !w.is_to_leave() && !pool_.parking.is_displaced(w.index);
  };
  auto const choose = [&]() -> Worker* {
    if (has_its_place(here)) return &here;
    for (auto const& level : here.victims->levels)
      for (int const w : level.victims)
        if (has_its_place(at_slot(w))) return &at_slot(w);
    return nullptr;
  };
  while (auto* const place = choose()) {
    if (!pool_.parking.displace(place->index)) return *place;
    put_back(*place);
  }
  static_cast<void>(pool_.parking.displace(here.index));
  return here;
}

void ThreadTable::sit(Worker& external, Worker& here) noexcept {
  auto& beside = place_near(here);
  external.beside = &beside;
  external.cpu = beside.cpu;
  external.domain = beside.domain;
  external.group = beside.group;
  external.victims = beside.victims;
  external.near_worker.store(beside.index, sync::relaxed);
  external.displaces = true;
}

void ThreadTable::move_to_here(Worker& external) noexcept {
  auto* const here = worker_at_this_cpu();
  if (here == nullptr || here->group == external.group) return;
  put_back_neighbour(external);
  sit(external, *here);
}

void ThreadTable::displace_neighbour(Worker& external) noexcept {
  if (std::exchange(external.displaces, true)) return;
  static_cast<void>(pool_.parking.displace(external.beside->index));
}
void ThreadTable::put_back_neighbour(Worker& external) noexcept {
  if (std::exchange(external.displaces, false)) put_back(*external.beside);
}

void ThreadTable::put_back(Worker const& worker) noexcept {
  if (pool_.parking.put_back(worker.index) && pool_.work_in_sight(worker.group))
    pool_.parking.notify(worker.group, Parking::everywhere);
}

template <class F>
void ThreadTable::each_displacer(Worker const& worker, F const& f) const noexcept {
  for (auto const& other : extras())
    if (other->is_external() && other->taken.is_locked() &&
        other->near_worker.load(sync::relaxed) == worker.index)
      f(*other);
}

std::int64_t ThreadTable::progress_of_displacers(Worker const& worker) const noexcept {
  std::int64_t sum = 0;
  each_displacer(worker, [&](Worker const& other) {
    sum += other.visits.load(sync::relaxed) +
           platform::time_on_clock_ns(other.clock.load(sync::relaxed));
  });
  return sum;
}

bool ThreadTable::displacers_sleep(Worker const& worker) const noexcept {
  bool all = true;
  each_displacer(worker, [&](Worker const& other) {
    all = all && platform::is_asleep(other.clock.load(sync::relaxed));
  });
  return all;
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
  name_this_thread(me);
  await_end_of_this_thread();
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

// An external thread that blocks leaves the cpu to the worker that it displaces.
blocking_scope::blocking_scope() {
  auto* const here = detail::this_stack->worker;
  auto* const me = tasks::current_worker();
  if (here != nullptr && here->is_external()) {
    if (!here->displaces) return;
    worker_ = here;
    here->share_all();
    here->pool.threads.put_back_neighbour(*here);
  } else if (me != nullptr && here == me && me->pool.threads.start_backup(*me)) {
    worker_ = me;
  }
}

blocking_scope::~blocking_scope() {
  if (worker_ == nullptr) return;
  if (worker_->is_external())
    worker_->pool.threads.displace_neighbour(*worker_);
  else
    worker_->pool.threads.dismiss_backup(*worker_);
}

}  // namespace nigh
