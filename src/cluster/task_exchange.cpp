// SPDX-License-Identifier: Apache-2.0
#include "cluster/task_exchange.hpp"

#include <cstring>
#include <nigh/isolate.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/assert.hpp"

namespace nigh::cluster {
namespace {

// The place of a task in its owner's stacks.
Token token_of(std::uint32_t thread_slot, std::uint32_t slot, bool is_isolated) noexcept {
  return Token{thread_slot} << 32 | slot | (is_isolated ? isolated_mark : 0);
}

bool is_isolated(Task const& task) noexcept {
  return task.token < free_token && (task.token & isolated_mark) != 0;
}

bool is_cluster_task(nigh::detail::task_slot const& slot) noexcept {
  return slot.call == &detail::run_cluster_task || slot.call == &detail::run_cluster_task_at_depth;
}

detail::function const& function_in(nigh::detail::task_slot const& slot) noexcept {
  detail::function const* f;
  std::memcpy(&f, slot.closure, sizeof f);
  return *f;
}

std::size_t this_thread_slot() noexcept {
  return static_cast<std::size_t>(nigh::detail::this_stack->worker->index);
}

// The outcome for the exception that is being handled.
Outcome failure_on(int rank) {
  Outcome outcome{true, rank, {}};
  auto const says = [&](std::string_view what) {
    auto const raw = std::as_bytes(std::span(what));
    outcome.output.assign(raw.begin(), raw.end());
  };
  try {
    throw;
  } catch (std::exception const& e) {
    says(e.what());
  } catch (...) {
    says("something that is no std::exception");
  }
  return outcome;
}

}  // namespace

void TaskExchange::attach(nigh::tasks::Scheduler& workers) {
  workers_ = &workers;
  free_tasks_ = std::make_unique<nigh::tasks::PutCount[]>(workers.pool().threads.size());
}

// ---- the victim: tasks go

bool TaskExchange::is_hungry() {
  return inbox_.is_empty() && workers_->external_thief().has_idle_workers();
}

bool TaskExchange::is_busy() { return !workers_->external_thief().has_idle_workers(); }

// From the inbox first, then from one worker's stack, as a thief takes them.
std::uint16_t TaskExchange::give(Writer& to, Chunk const& chunk) {
  auto const from_inbox = inbox_.give(chunk, [&](Task const& t) { put_task(to, t); });
  if (from_inbox > 0) return static_cast<std::uint16_t>(from_inbox);
  nigh::tasks::ExternalThief::Taken taken;
  if (!workers_->external_thief().take(taken, chunk)) return 0;
  std::uint16_t given = 0;
  for (std::uint32_t i = 0; i < taken.tasks.count; ++i) {
    auto& slot = taken.tasks.first[i];
    if (give_slot(to, *taken.victim, slot))
      ++given;
    else
      put({nullptr, nigh::tasks::ExternalThief::task_for_here(*taken.victim, slot)});
  }
  return given;
}

// False: the slot holds no cluster task of a run, or one that only this rank knows.
bool TaskExchange::give_slot(Writer& to, nigh::tasks::Worker& victim,
                             nigh::detail::task_slot& slot) {
  if (!is_cluster_task(slot) || nigh::tasks::ExternalThief::is_resident(slot)) return false;
  auto const& f = function_in(slot);
  if (f.id == detail::function::unknown || f.is_late) return false;
  auto const input_bytes = f.input_bytes(slot);
  bool const is_free = slot.object == nullptr;
  auto const token =
      is_free ? free_token
              : token_of(static_cast<std::uint32_t>(victim.index), victim.stack.index(&slot),
                     nigh::tasks::ExternalThief::is_isolated(slot));
  to.put(TaskHead{f.id, self_, token, input_bytes});
  f.pack(slot, to.room(input_bytes));
  if (is_free) {  // from now on it belongs to the thief
    f.drop(slot);
    workers_->external_thief().finish(victim, slot);
  }
  return true;
}

// ---- the thief: tasks come, and run

void TaskExchange::put(Inbox::Item item) {
  inbox_.put(std::move(item));
  workers_->external_thief().call_workers();
}

void TaskExchange::take(Task task) { put({std::make_unique<Task>(std::move(task)), {}}); }

void TaskExchange::add_root(detail::function const& f, bytes input, std::uint32_t run,
                            bool is_again) {
  put({std::make_unique<Task>(
           Task{f.id, self_, root_token, true, std::move(input), 0, run, is_again}),
       {}});
}

bool TaskExchange::run(std::unique_ptr<Task> task, std::uint32_t run) noexcept {
  Outcome outcome{false, self_, {}};
  if (task->is_again) begun_again_.fetch_add(1, sync::relaxed);
  try {
    std::optional<nigh::detail::isolation> region;
    if (is_isolated(*task)) region.emplace();
    functions_[task->function]->run_packed(task->input, outcome.output);
  } catch (...) {
    outcome = failure_on(self_);
  }
  if (task->token == free_token) {
    outcome.failed ? outbox_.put_failure(std::move(outcome)) : end_free_task();
  } else if (task->token == root_token && task->owner == self_) {
    outcome.function = task->function;
    outbox_.put_root(std::move(outcome), task->run);
  } else if (task->owner == self_) {
    deliver(task->token, {outcome.failed, outcome.rank, outcome.output});
    return false;
  } else {
    Writer result;
    result.put(Header{Kind::result, 0, 1, run});
    put_outcome(result, outcome, task->token);
    outbox_.put(task->owner, result.take());
  }
  return true;
}

// ---- the victim: results come back

void TaskExchange::deliver(Token token, detail::outcome const& what) {
  if (PlacedTasks::owns(token)) {
    auto const task = placed_.remove(token);
    return detail::end_placed(task, what);
  }
  auto& victim = workers_->pool().threads[static_cast<std::uint32_t>((token & ~isolated_mark) >> 32)];
  auto& slot = victim.stack.slots[static_cast<std::uint32_t>(token)];
  function_in(slot).deliver(slot, what);
  workers_->external_thief().finish(victim, slot);
}

// ---- placed tasks, free tasks

bool TaskExchange::place(int rank, detail::placed const& task, byte_view input, std::uint32_t run) {
  auto const token = placed_.add(rank, task);
  if (!token) return false;
  Writer w;
  w.put(Header{Kind::placed, 0, 1, run});
  w.put(TaskHead{task.what->id, self_, *token, input.size()});
  w.put(input);
  outbox_.put(rank, w.take());
  return true;
}

void TaskExchange::begin_free_task() noexcept {
  free_tasks_[this_thread_slot()].put.add(1);
}

void TaskExchange::end_free_task() noexcept {
  free_tasks_[this_thread_slot()].finish();
}

void TaskExchange::fail_free_task(std::exception_ptr e) noexcept {
  try {
    std::rethrow_exception(e);
  } catch (...) {
    outbox_.put_failure(failure_on(self_));
  }
}

// Finished before created, by (put_count.Q).
TaskCounts TaskExchange::free_tasks() {
  TaskCounts sum;
  for (std::size_t s = 0; s < workers_->pool().threads.size(); ++s)
    sum.finished += free_tasks_[s].finished_so_far();
  for (std::size_t s = 0; s < workers_->pool().threads.size(); ++s)
    sum.created += free_tasks_[s].put_so_far();
  return sum;
}

}  // namespace nigh::cluster
