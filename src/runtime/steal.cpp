// SPDX-License-Identifier: Apache-2.0
// Forked tasks: sharing, stealing, joining.

#include <cstring>

#include "base/assert.hpp"
#include "policy/fork.hpp"
#include "runtime/frame.hpp"
#include "runtime/until.hpp"

namespace nigh::detail {
namespace {

constexpr std::uint64_t forks_per_sample = 1000;  // of the queue length, as in the paper

// Xorshift (Marsaglia 2003), good enough to spread thieves.
std::uint32_t random_bits(std::uint32_t& state) noexcept {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

}  // namespace

void scheduler::share(Worker& me) noexcept {
  publish(me, policy::tasks_to_share(me.stack.private_tasks()));
}

void scheduler::share_all(Worker& me) noexcept { publish(me, me.stack.private_tasks()); }

void scheduler::publish(Worker& me, std::uint32_t n) noexcept {
  if (n == 0) return;
  me.stack.publish(n);
  parking_->notify(me.home, tasks::Parking::everywhere);
}

// One look at everybody, in the order the policy says.
bool scheduler::steal_somewhere(Worker& me, Job& job) noexcept {
  if (me.beside != nullptr && steal_from(me, *me.beside, level::cpu, job)) return true;
  auto const bits = random_bits(me.random_bits);
  for (int attempt = 0; attempt < me.plan->attempts_per_round; ++attempt) {
    auto const v = policy::victim(*me.plan, options_.victims, attempt, bits);
    auto const where = me.plan->levels[static_cast<std::size_t>(v.level)].level;
    if (steal_from(me, worker(v.worker), where, job)) return true;
  }
  if (extras_present_.load(sync::relaxed) > 0)
    for (auto const& seat : extras())
      if (seat.get() != &me && steal_from(me, *seat, level_to(me, *seat), job)) return true;
  return false;
}

// How far a seat is whose place in the plan is not at hand.
level scheduler::level_to(Worker const& me, Worker const& victim) noexcept {
  int const there = victim.near_worker.load(sync::relaxed);
  if (there == me.plan->self) return level::cpu;
  return me.plan->levels[me.plan->level_of[static_cast<std::size_t>(there)]].level;
}

bool scheduler::steal_from(Worker& me, Worker& victim, level where, Job& job) noexcept {
  auto const how_many = [&](std::size_t waiting) {
    return policy::chunk_to_steal(options_.chunks, waiting, where, me.plan->topmost);
  };
  if (!victim.is_robbed(static_cast<std::uint32_t>(me.seat), job.stolen, how_many)) return false;
  job.victim = &victim;
  me.counters.steals.add(1);
  me.counters.stolen.add(job.stolen.count);
  me.counters.steals_at[static_cast<std::size_t>(where)].add(1);
  if (me.track != nullptr) me.track->stole(victim.seat, where, job.stolen.count);
  return true;
}

// Who waits for queued tasks may run those of its own that lie below: nobody else may have come for
// them, and with them in sight it would not sleep.
bool scheduler::take_own(Worker& me, Job& job) noexcept {
  if (!me.stack.has_shared()) return false;
  auto const one = [](std::size_t) { return 1; };
  if (me.stack.take(static_cast<std::uint32_t>(me.seat), job.stolen, one) != steal::taken)
    return false;
  job.victim = &me;
  return true;
}

// The oldest of the stolen tasks runs here and now; for each of the others a proxy goes onto the
// thief's own stack, where it can be stolen again.
void scheduler::run_stolen(Job const& job, Worker& me) noexcept {
  auto* const base = me.stack.top;
  auto* const first = job.stolen.first;
  Worker* const victim = job.victim;
  for (std::uint32_t i = 1; i < job.stolen.count; ++i) {
    task_slot proxy_in_frame;
    bool const room = me.stack.top < me.room_ends;
    auto& proxy = room ? *me.stack.top : proxy_in_frame;
    proxy.call = &run_stolen_slot;
    proxy.object = first + i;
    std::memcpy(proxy.closure, &victim, sizeof victim);
    if (!room) {
      run_stolen_slot(proxy, nullptr);
      continue;
    }
    proxy.depth = first[i].depth;
    ++me.stack.top;
  }
  if (job.stolen.count > 1) share(me);
  task_slot oldest;
  oldest.object = first;
  std::memcpy(oldest.closure, &victim, sizeof victim);
  run_stolen_slot(oldest, nullptr);
  finish_down_to(me, base);
}

// A task_slot::entry: runs the task in somebody else's slot.
void scheduler::run_stolen_slot(task_slot& proxy, task_stack* popping) noexcept {
  auto& slot = *static_cast<task_slot*>(proxy.object);
  Worker* victim;
  std::memcpy(&victim, proxy.closure, sizeof victim);
  if (popping != nullptr) popping->top = &proxy;
  auto& me = *this_stack->worker;
  auto const depth = me.depth;
  me.depth = slot.depth;
  {
    Frame const frame;
    slot.call(slot, nullptr);
  }
  me.depth = depth;
  slot.finish();
  victim->host.wake(*victim);
}

// Whoever finished what `waiting` awaits has said so, seq_cst, before it calls this.
void scheduler::wake(Worker const& waiting) noexcept {
  bool const counted = waiting.role != tasks::Role::guest;
  parking_->wake(waiting.seat, counted ? waiting.home : -1);
}

bool scheduler::run_top(Worker& me) noexcept {
  auto& stack = me.stack;
  if (stack.wanted.load(sync::relaxed) && stack.private_tasks() > 1) share(me);
  auto* const slot = stack.top - 1;
  if (!stack.is_private(slot) && !stack.reclaim(slot)) return false;
  auto const depth = me.depth;
  if (options_.depth_cutoff > 0) me.depth = slot->depth;
  slot->call(*slot, &stack);
  me.depth = depth;
  return true;
}

void scheduler::finish_top(Worker& me) noexcept {
  auto* const slot = me.stack.top - 1;
  if (run_top(me)) return;
  await(me, StolenTask{*slot});
  me.stack.drop_stolen(slot);
}

void scheduler::finish_down_to(Worker& me, task_slot* top) noexcept {
  while (me.stack.top > top) finish_top(me);
}

void scheduler::await_zero(Worker& me, sync::atomic<std::uint32_t> const& word) noexcept {
  await(me, Zero{word});
}

bool scheduler::may_fork(Worker& me) noexcept {
  auto const& stack = me.stack;
  auto const waiting =
      stack.index(stack.top) - task_stack::tail_of(stack.shared.load(sync::relaxed));
  bool const may = stack.top < me.room_ends &&
                   policy::forks(me.depth, waiting, {options_.depth_cutoff, options_.queue_cutoff});
  (may ? me.counters.forked : me.counters.serialized).add(1);
  if (me.track != nullptr) {
    if (!may) me.track->serialized();
    if (may) me.track->forked(stack.index(stack.top));
    if (may && me.counters.forked.get() % forks_per_sample == 0) me.track->queue_length(waiting);
  }
  return may;
}

}  // namespace nigh::detail
