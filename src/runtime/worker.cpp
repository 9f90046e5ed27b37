// SPDX-License-Identifier: Apache-2.0
// tidy: long, because the walk from a join to a steal and back stays in one file.
#include "runtime/worker.hpp"

#include <cstring>
#include <nigh/fork_join.hpp>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "platform/futex.hpp"
#include "platform/thread.hpp"
#include "runtime/pool.hpp"
#include "runtime/searching.hpp"

namespace nigh::tasks {

using detail::task;
using detail::task_slot;
using detail::task_stack;
using detail::this_stack;
using policy::search_order;
using policy::SearchPhase;
using policy::Source;
using policy::WaitingFor;

namespace {

constexpr policy::IdlePolicy idle_policy;
constexpr int isolated_looks = 10;  // before it wakes its backup thread, as many times

void pause(int times) noexcept {
  for (int i = 0; i < times; ++i) sync::pause();
}

// A wait goal is the condition that ends a thread's loop or wait. Until then it runs other tasks.
//
//   waiting_for     the kind of the goal, for policy::permissions()
//   done()          asked often
//   surely_done()   asked before it sleeps, in the order of all seq_cst operations (parking.S)
//   thief()         the thread to help first; null: none
//   looks_first     where a thread helps others: so often it asks these alone before it searches
//   announce()      there, once it is done: tells a race detector of what it acquired
struct RuntimeEnd {
  static constexpr auto waiting_for = WaitingFor::work;
  Pool& pool;
  static Worker* thief() noexcept { return nullptr; }
  bool done() const noexcept { return pool.stopping.load(sync::relaxed); }
  bool surely_done() const noexcept { return pool.stopping.load(sync::seq_cst); }  // (parking.S)
};

struct Dismissal {  // a backup thread's worker is back
  static constexpr auto waiting_for = WaitingFor::work;
  Worker& me;
  static Worker* thief() noexcept { return nullptr; }
  bool done() const noexcept { return me.duty.load(sync::relaxed) != Worker::on; }
  bool surely_done() const noexcept {
    return me.duty.load(sync::seq_cst) != Worker::on;  // (parking.S)
  }
};

struct StolenTask {  // its thief has finished it
  static constexpr auto waiting_for = WaitingFor::stolen_task;
  static constexpr int looks_first = idle_policy.looks_first;
  Pool& pool;
  task_slot const& slot;
  // The first thief: the task may have been stolen again from its stack, as a proxy. Null: the
  // thief has not said so yet, is no thread of ours, or is done.
  Worker* thief() const noexcept {
    auto const state = slot.state.load(sync::relaxed);
    return state == task_slot::waiting || state >= task_slot::away
               ? nullptr
               : &pool.threads[state - 1];
  }
  bool done() const noexcept { return slot.finished(); }
  void announce() const noexcept { base::announce_acquire(&slot.state); }  // (stack.E)
  bool surely_done() const noexcept {
    return slot.state.load(sync::seq_cst) == task_slot::done;  // (stack.E) (parking.S)
  }
};

// A scope's queued tasks have run. Perhaps this very thread has to run them, so it begins at once.
struct Zero {
  static constexpr auto waiting_for = WaitingFor::scope;
  static constexpr int looks_first = 0;
  sync::atomic<std::uint32_t> const& word;
  static Worker* thief() noexcept { return nullptr; }
  bool done() const noexcept { return word.load(sync::acquire) == 0; }  // (stack.E)
  void announce() const noexcept { base::announce_acquire(&word); }     // (stack.E) (mailbox.E)
  bool surely_done() const noexcept {
    return word.load(sync::seq_cst) == 0;  // (stack.E) (parking.S)
  }
};

// All that have taken a message have finished: they are at work on it, and mostly done soon.
struct Receivers : Zero {
  static constexpr int looks_first = idle_policy.looks_first;
};

template <class Until>
constexpr policy::Permissions unrestricted =  // by its stack or its cpu
    policy::permissions(policy::ThreadKind::worker, Until::waiting_for, false, false);

}  // namespace

// Something to do: a message, tasks stolen from a stack, or a queued task.
struct Worker::Job {
  MailboxMessage* message = nullptr;
  Worker* victim = nullptr;  // of `stolen`; null: none is stolen
  task_stack::range stolen;
  task queued;  // if the two pointers are null

  void clear() noexcept {
    message = nullptr;
    victim = nullptr;
  }
};

// ---- the loop

void Worker::run_loop() noexcept { work_until(RuntimeEnd{pool}); }
void Worker::run_until_dismissed() noexcept { work_until(Dismissal{*this}); }

template <class Until>
void Worker::work_until(Until until) noexcept {
  constexpr auto begin = search_order(SearchPhase::begin, unrestricted<Until>, 0);
  Job job;
  while (!until.done()) {
    if (is_to_leave()) {
      stay_away(until);
      continue;
    }
    job.clear();
    is_between_jobs = true;
    bool const found =
        (!is_held_off() && (find_work(begin, nullptr, job) || linger(job))) || search(job, until);
    is_between_jobs = false;
    if (found) run(job);
  }
}

bool Worker::is_held_off() noexcept {
  if (!is_between_jobs || !is_worker() || !pool.parking.is_displaced(index)) {
    displacer_is_blocked = false;
    return false;
  }
  if (displacer_is_blocked)
    displacer_is_blocked = displacers_progress == pool.threads.progress_of_displacers(*this);
  return !displacer_is_blocked;
}

// Waits for a stolen task, or at a scope's end, and runs other tasks meanwhile. In a join its stack
// has nothing to share: all tasks below the stolen one are stolen. At a scope's end tasks may lie
// further down. It does not come to them until then, so it shares them all. In an isolated region it
// runs nothing: after a while its backup thread does on its cpu, as where little stack is left.
template <class Until>
void Worker::help_until(Until until) noexcept {
  constexpr auto leapfrog = search_order(SearchPhase::leapfrog, unrestricted<Until>, 0);
  Job job;
  for (int look = 0; !until.done(); ++look) {
    share_all();
    job.clear();
    bool const may_go_deeper = !is_stack_short(stack.top < stack.limit ? 1 : for_chains);
    bool const only_looks = look < (is_isolated() ? isolated_looks : 1) * Until::looks_first;
    if (!only_looks ? search(job, until)
                    : !is_isolated() && may_go_deeper && find_work(leapfrog, until.thief(), job)) {
      run(job);
      look = 0;
    } else if (only_looks) {
      sync::pause();
    }
  }
  until.announce();
}

// ---- finding work

bool Worker::find_work(policy::SearchOrder const& order, Worker* thief, Job& job) noexcept {
  for (auto const source : order)
    if (look_at(source, thief, job)) return true;
  return false;
}

bool Worker::look_at(Source source, Worker* thief, Job& job) noexcept {
  switch (source) {
    case Source::mailbox:
      job.message = mailbox_here().take();
      return job.message != nullptr;
    case Source::own_queue:
      return find_in_own_queue(job.queued);
    case Source::joined_thief:
      return thief != nullptr && steal_from(*thief, level_to(*thief), job);
    case Source::stacks:
      return ask_all_stacks(job);
    case Source::sibling_buffers:
      return pool.find_in_buffers(group, job.queued);
    case Source::other_queues:
      return pool.find_in_other_groups(group, job.queued);
    case Source::own_shared:
      return take_own_shared(job);
    case Source::imported:
      return find_imported(job.queued);
  }
  return false;
}

bool Worker::linger(Job& job) noexcept {
  constexpr int looks = idle_policy.rounds_lingering * idle_policy.pauses_lingering;
  for (int look = 0; look < looks; ++look) {
    sync::pause();
    if (find_work(search_order(SearchPhase::linger, unrestricted<RuntimeEnd>, look), nullptr, job))
      return true;
  }
  return false;
}

// Looks for work, and sleeps in between, until there is some or it is time to leave; returns whether there is some.
// Also ends when the thread is asked to leave its cpu, or may stay after all: then other things are permitted.
template <class Until>
bool Worker::search(Job& job, Until until) noexcept {
  constexpr bool joins = Until::waiting_for != WaitingFor::work;
  bool const low = joins && is_stack_short(1);
  bool const isolated = joins && is_isolated();
  Relief const relief(*this, low || isolated);
  bool const leaves = joins && is_to_leave();
  auto const may = policy::permissions(relieved ? policy::ThreadKind::relieved_worker : kind,
                                       Until::waiting_for, low, leaves, isolated);
  Searching searching{*this, may.counts_as_searching()};
  std::int64_t const ran_out = base::now_ns();
  std::int64_t since = ran_out, shares_from_us = idle_policy.shares_for_others_us;
  bool is_long = false;  // this wait
  for (int failed_rounds = 0; !until.done() && is_to_leave() == leaves; ++failed_rounds) {
    if (is_held_off()) {
      auto const news = [&] {
        if (until.surely_done() || asked_to.load(sync::seq_cst) == leave ||  // (parking.S)
            !pool.parking.is_displaced(index))                               // (parking.D)
          return true;
        // Spawners may have counted on it.
        if (pool.is_work_left(group)) pool.parking.notify(group, Parking::everywhere);
        return false;
      };
      displacers_progress = pool.threads.progress_of_displacers(*this);
      // One that has had no cpu time may want some, and get none.
      displacer_is_blocked =
          searching.sleep_displaced(news) && pool.threads.displacers_sleep(*this);
      continue;
    }
    if (find_work(search_order(SearchPhase::search, may, failed_rounds), until.thief(), job)) {
      if (is_long && !joins) waits.ended_after((base::now_ns() - ran_out) / 1000, idle_policy);
      return true;
    }
    counters.failed_steals.add(1);
    trace.search_failed();
    if (failed_rounds % idle_policy.rounds_per_clock_reading != 0) {
      pause(idle_policy.pauses_searching);
      continue;
    }
    auto const idle_us = (base::now_ns() - since) / 1000;
    is_long = is_long || idle_us >= idle_policy.brief_us;
    auto how = policy::rest(idle_us, waits.patience(joins), idle_policy);
    // An external thread leaves queued tasks to the worker that it displaces: it makes room.
    if (is_external() && !pool.group(group).queue->empty()) how = policy::Rest::sleep;
    switch (how) {
      case policy::Rest::pause:
        pause(idle_policy.pauses_searching);
        break;
      case policy::Rest::yield:
        if (may.stacks && idle_us >= shares_from_us) {
          shares_from_us = 2 * idle_us;
          if (share_for_others()) continue;
        }
        platform::yield();
        // It counts as that many rounds, and the next one reads the clock again.
        failed_rounds += idle_policy.rounds_per_clock_reading - 1;
        break;
      case policy::Rest::sleep: {
        if (may.stacks && share_for_others()) continue;
        auto const news = [&] {
          if (until.surely_done() ||
              (asked_to.load(sync::seq_cst) == leave) != leaves)  // (parking.S)
            return true;
          if (!may.stacks) return may.own_shared && stack.has_shared();
          if (mailbox_here().is_full() || (may.queues && pool.work_in_sight(group)) ||
              pool.has_unshared_tasks())
            return true;
          pool.source.misses_one();
          return false;
        };
        if (is_external()) {
          // The worker in whose place it computes cannot come for them.
          auto const is_left = [this] { return beside->is_elsewhere() && pool.is_anything_queued(); };
          auto const most_ms =
              is_left() ? idle_policy.queued_tasks_left_ms : idle_policy.external_look_ms;
          counters.parked.add(1);
          waits.woken();
          if (searching.sleep_external(std::int64_t{most_ms} * 1'000'000, news) && may.stacks && is_left() &&
              pool.find_for_external(group, job.queued))
            return true;
        } else if (searching.sleep(news)) {
          counters.parked.add(1);
          waits.woken();
        }
        failed_rounds = 0;
        since = base::now_ns();
        shares_from_us = idle_policy.shares_for_others_us;
      }
    }
  }
  return false;
}

// Sleeps until its cpu may be used again. Spawners may have counted on it as a searcher, so it
// passes that duty on, by (parking.T); spawners do not find it among the sleepers.
template <class Until>
void Worker::stay_away(Until until) noexcept {
  {
    Searching const passing{*this, true};
  }
  trace.parked();
  counters.parked.add(1);
  pool.arena->falls_asleep();
  while (asked_to.load(sync::acquire) == leave && !until.surely_done())  // (parking.W)
    platform::futex_wait(asked_to, leave);
  pool.arena->woke();
  trace.unparked(true);
}

// ---- stealing

// One look at all stacks: those of workers in the order that the policy gives, then all others.
bool Worker::ask_all_stacks(Job& job) noexcept {
  if (beside != nullptr && steal_from(*beside, level::cpu, job)) return true;
  auto const bits = base::next_random(random_bits);
  for (int attempt = 0; attempt < victims->attempts_per_round; ++attempt) {
    auto const v = policy::victim(*victims, pool.options.victims, attempt, bits);
    auto const where = victims->levels[static_cast<std::size_t>(v.level)].level;
    if (steal_from(pool.threads.at_slot(v.worker), where, job)) return true;
  }
  if (pool.threads.extras_present())
    for (auto const& other : pool.threads.extras())
      if (other.get() != this && steal_from(*other, level_to(*other), job)) return true;
  return false;
}

// The distance to a thread that has no fixed place in the victim plan.
level Worker::level_to(Worker const& victim) const noexcept {
  int const there = victim.near_worker.load(sync::relaxed);
  if (there == victims->self) return level::cpu;
  return victims->levels[victims->level_of[static_cast<std::size_t>(there)]].level;
}

bool Worker::steal_from(Worker& victim, level where, Job& job) noexcept {
  // Perhaps an external thread has just come to compute in this worker's place, and these are its.
  auto const how_many = [&](std::size_t waiting) -> std::size_t {
    if (is_held_off()) return 0;
    return policy::chunk_to_steal(pool.options.chunks, waiting, where, victims->topmost);
  };
  if (!victim.take_tasks(static_cast<std::uint32_t>(index), job.stolen, how_many) ||
      job.stolen.count == 0)
    return false;
  job.victim = &victim;
  counters.steals.add(1);
  counters.stolen.add(job.stolen.count);
  counters.steals_at[static_cast<std::size_t>(where)].add(1);
  trace.stole(victim.index, where, job.stolen.count);
  return true;
}

// A thread that waits for queued tasks may run shared ones of its own stack below: perhaps no thief
// has come for them, and while they are in sight it would not sleep.
bool Worker::take_own_shared(Job& job) noexcept {
  auto const one = [](std::size_t) { return 1; };
  auto const me = static_cast<std::uint32_t>(index);
  if (!stack.has_shared() || !take_tasks(me, job.stolen, one)) return false;
  job.victim = this;
  return true;
}

std::uint32_t Worker::steal_once() noexcept {
  Job job;
  if (is_stack_short(1) || !ask_all_stacks(job)) return 0;
  run(job);
  return job.stolen.count;
}

// ---- running

void Worker::run(Job& job) noexcept {
  waits.runs_task();
  if (job.message != nullptr) {
    Worker* const sender = job.message->sender;
    {
      auto const before = set_depth((depth & ~resident_bit) | job.message->marks);
      {
        TaskFrame const frame;
        job.message->call(*job.message);
      }
      set_depth(before);
    }
    if (job.message->finish()) sender->wake();
  } else if (job.victim != nullptr) {
    run_stolen(job);
  } else {
    run_queued(pool, job.queued, this);
  }
}

// The oldest of the stolen tasks runs here and now. For each of the others a proxy goes onto the thief's own stack,
// where it can be stolen again. But those of an isolated region, which lie above all others, run before that, one
// after the other: a thread waits for them that runs nothing else, and may hold a lock that the others want.
void Worker::run_stolen(Job const& job) noexcept {
  detail::task_slot* const base = stack.top;
  auto* const first = job.stolen.first;
  auto count = job.stolen.count;
  while (count > 0 && (first[count - 1].depth & isolated_bit) != 0) --count;
  for (auto i = count; i < job.stolen.count; ++i) run_stolen_slot(*job.victim, first[i]);
  if (count == 0) return;
  for (std::uint32_t i = 1; i < count; ++i) {
    if (stack.top == room_ends) {
      run_stolen_slot(*job.victim, first[i]);
      continue;
    }
    auto& proxy = *stack.top;
    proxy.call = &run_proxy;
    proxy.object = first + i;
    std::memcpy(proxy.closure, &job.victim, sizeof job.victim);
    proxy.depth = first[i].depth;
    if ((proxy.depth & mark_bits) != 0) mark(proxy);
    stack.top = &proxy + 1;
  }
  if (count > 1) share();
  run_stolen_slot(*job.victim, *first);
  finish_down_to(base);
  if (marks() == 0) clear_marks();  // of proxies
}

// A task_slot::entry.
void Worker::run_proxy(task_slot& proxy, task_stack* popping) noexcept {
  auto& slot = *static_cast<task_slot*>(proxy.object);
  Worker* victim;
  std::memcpy(&victim, proxy.closure, sizeof victim);
  if (popping != nullptr) popping->end_taking(&proxy);
  run_stolen_slot(*victim, slot);
}

void Worker::run_stolen_slot(Worker& victim, task_slot& slot) noexcept {
  auto& me = *this_stack->worker;
  auto const depth_before = me.set_depth(slot.depth | (me.depth & isolated_bit));
  {
    TaskFrame const frame;
    slot.call(slot, nullptr);
  }
  me.set_depth(depth_before);
  victim.finish_stolen(slot);
}

// ---- joining

bool Worker::run_top() noexcept {
  if (stack.wanted.load(sync::relaxed) && stack.private_tasks() > 1) share();
  auto* const slot = stack.top - 1;
  begin_changing();
  if (!stack.is_private(slot) && !stack.reclaim(slot)) {
    stack.end_changing();
    return false;
  }
  auto const depth_before = depth;
  if (pool.options.depth_cutoff > 0) set_depth(slot->depth | (depth & isolated_bit));
  slot->call(*slot, &stack);
  set_depth(depth_before);
  return true;
}

void Worker::finish_top() noexcept {
  auto* const slot = stack.top - 1;
  if (run_top()) return;
  help_until(StolenTask{pool, *slot});
  begin_changing();
  stack.drop_stolen(slot);
  stack.end_changing();
}

void Worker::finish_down_to(task_slot* top) noexcept {
  while (stack.top > top) finish_top();
}

void Worker::await_zero(sync::atomic<std::uint32_t> const& word) noexcept {
  help_until(Zero{word});
}

void Worker::await_receivers(sync::atomic<std::uint32_t> const& out) noexcept {
  help_until(Receivers{{out}});
}

void Worker::wake() const noexcept { pool.parking.wake(index, is_external() ? -1 : group); }

}  // namespace nigh::tasks

namespace nigh::detail {

// The slow ways from a join in the public headers.

void finish_top(task_stack& stack) noexcept { stack.worker->finish_top(); }

// no_stack has no worker, and nothing to finish.
void finish_down_to(task_stack& stack, task_slot* top) noexcept {
  if (stack.top > top) stack.worker->finish_down_to(top);
}

// A scope that the forked function waited at may have run the task already, with its own tasks.
void join_slowly(task_stack& stack, task_slot* slot, void const* object) noexcept {
  NIGH_ASSERT(slot >= stack.slots && slot < stack.slots + stack.capacity,
              "a child_task is joined by the thread that made it");
  if (slot < stack.top && slot->object == object) finish_down_to(stack, slot);
}

}  // namespace nigh::detail
