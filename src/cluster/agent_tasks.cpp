// SPDX-License-Identifier: Apache-2.0
// What a rank's workers do with tasks of other ranks, and what of their own they give away.

#include <cstring>

#include "base/assert.hpp"
#include "cluster/agent.hpp"

namespace nigh::cluster {
namespace {

// The place of a task in its owner's stacks.
Token token_of(std::uint32_t seat, std::uint32_t slot) noexcept { return Token{seat} << 32 | slot; }

bool is_cluster_task(nigh::detail::task_slot const& slot) noexcept {
  return slot.call == &detail::run_cluster_task || slot.call == &detail::run_cluster_task_at_depth;
}

detail::function const& function_in(nigh::detail::task_slot const& slot) noexcept {
  detail::function const* f;
  std::memcpy(&f, slot.closure, sizeof f);
  return *f;
}

bytes result_message(std::uint32_t run, Task const& task, Outcome const& outcome) {
  Writer w;
  w.put(Header{Kind::result, 0, 1, run});
  w.put(ResultHead{task.token, outcome.rank, outcome.failed ? 1u : 0u});
  w.put(byte_view(outcome.output));
  return w.take();
}

std::size_t this_seat() noexcept {
  return static_cast<std::size_t>(nigh::detail::this_stack->worker->seat);
}

}  // namespace

void Agent::put(Inbox::Item item) {
  inbox_.put(std::move(item));
  scheduler().call_workers();
}

bool Agent::find(nigh::detail::task& t) noexcept {
  Inbox::Item item;
  if (!inbox_.take(item)) {
    if (!funneled_) poll();
    if (!inbox_.take(item)) return false;
  }
  if (item.task == nullptr) {
    t = item.here;
    return true;
  }
  auto* const track = nigh::detail::this_stack->worker->track;
  if (track != nullptr && item.task->came_with > 0)
    track->stole(item.task->owner, level::cluster, item.task->came_with);
  t = nigh::detail::make_task(
      [this, task = item.task.release()] { run_task(std::unique_ptr<Task>(task)); });
  return true;
}

void Agent::misses_one() noexcept {
  bool const is_soon = expects_tasks_.load(sync::relaxed);
  lookout_.call_from_more_than(is_soon ? Lookout::brief_sleep : Lookout::short_sleep);
}

void Agent::run_task(std::unique_ptr<Task> task) noexcept {
  Outcome outcome;
  outcome.rank = rank();
  auto const fails = [&](std::string_view what) {
    outcome.failed = true;
    auto const raw = std::as_bytes(std::span(what));
    outcome.output.assign(raw.begin(), raw.end());
  };
  try {
    functions_[task->function]->run_packed(task->input, outcome.output);
  } catch (std::exception const& e) {
    fails(e.what());
  } catch (...) {
    fails("something that is no std::exception");
  }
  if (task->token == free_token)
    outcome.failed ? outbox_.put_failure(std::move(outcome)) : end_free_task();
  else if (task->token == root_token && task->owner == rank())
    outbox_.put_root(std::move(outcome));
  else if (task->owner == rank())
    return deliver(task->token, {outcome.failed, outcome.rank, outcome.output});
  else
    outbox_.put(task->owner, result_message(engine_.run(), *task, outcome));
  if (!funneled_) poll();
}

// ---- Engine::Host

bool Agent::is_hungry() { return inbox_.is_empty() && scheduler().has_idle_workers(); }

bool Agent::is_busy() { return !scheduler().has_idle_workers(); }

void Agent::take(Task task) { put({std::make_unique<Task>(std::move(task)), {}}); }

void Agent::ring(int neighbour) { Lookout::call(engine_.segments().at(neighbour).bell); }

std::uint16_t Agent::give(Writer& to, Chunk const& chunk) {
  auto const from_inbox = inbox_.give(chunk, [&](Task const& t) { put_task(to, t); });
  if (from_inbox > 0) return static_cast<std::uint16_t>(from_inbox);
  nigh::detail::scheduler::Taken taken;
  if (!scheduler().take_for_outside(taken, chunk)) return 0;
  std::uint16_t given = 0;
  for (std::uint32_t i = 0; i < taken.tasks.count; ++i) {
    auto& slot = taken.tasks.first[i];
    if (give_slot(to, *taken.victim, slot))
      ++given;
    else
      put({nullptr, nigh::detail::scheduler::run_here_after_all(*taken.victim, slot)});
  }
  return given;
}

// False: what waits there is no cluster task, or one that only this rank knows.
bool Agent::give_slot(Writer& to, nigh::detail::scheduler::Worker& victim,
                      nigh::detail::task_slot& slot) {
  if (!is_cluster_task(slot)) return false;
  auto const& f = function_in(slot);
  if (f.id == detail::function::unknown || f.is_late) return false;
  auto const input_bytes = f.input_bytes(slot);
  bool const is_free = slot.object == nullptr;
  auto const token =
      is_free ? free_token
              : token_of(static_cast<std::uint32_t>(victim.seat), victim.stack.index(&slot));
  to.put(TaskHead{f.id, rank(), token, input_bytes});
  f.pack(slot, to.room(input_bytes));
  if (is_free) {  // it is the thief's from now on
    f.drop(slot);
    scheduler().finish_outside(victim, slot);
  }
  return true;
}

void Agent::deliver(Token token, detail::outcome const& what) {
  if (PlacedTasks::owns(token)) {
    auto const task = placed_.remove(token);
    return detail::end_placed(task, what);
  }
  auto& victim = scheduler().seat(static_cast<std::uint32_t>(token >> 32));
  auto& slot = victim.stack.slots[static_cast<std::uint32_t>(token)];
  function_in(slot).deliver(slot, what);
  scheduler().finish_outside(victim, slot);
}

// ---- free tasks

void Agent::begin_free_task() noexcept {
  auto& count = free_tasks_[this_seat()].created;
  count.store(count.load(sync::relaxed) + 1, sync::release);
}

void Agent::end_free_task() noexcept {
  auto& count = free_tasks_[this_seat()].finished;
  count.store(count.load(sync::relaxed) + 1, sync::release);
}

void Agent::fail_free_task(std::exception_ptr e) noexcept {
  Outcome outcome{true, rank(), {}};
  auto const says = [&](std::string_view what) {
    auto const raw = std::as_bytes(std::span(what));
    outcome.output.assign(raw.begin(), raw.end());
  };
  try {
    std::rethrow_exception(e);
  } catch (std::exception const& thrown) {
    says(thrown.what());
  } catch (...) {
    says("something that is no std::exception");
  }
  outbox_.put_failure(std::move(outcome));
}

TaskCounts Agent::free_tasks() {
  TaskCounts sum;
  for (std::size_t s = 0; s < scheduler().seats(); ++s)
    sum.finished += free_tasks_[s].finished.load(sync::acquire);
  for (std::size_t s = 0; s < scheduler().seats(); ++s)
    sum.created += free_tasks_[s].created.load(sync::acquire);
  return sum;
}

}  // namespace nigh::cluster
