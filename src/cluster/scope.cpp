// SPDX-License-Identifier: Apache-2.0
// The parts of nigh::cluster::task_scope that need not be inlined, and the entry of its tasks.

#include <algorithm>
#include <cstring>
#include <nigh/isolate.hpp>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "cluster/agent.hpp"
#include "cluster/functions.hpp"

namespace nigh::cluster {
namespace {

constexpr std::int64_t look_every_ns = 5'000;
constexpr std::int64_t most_tasks_between_looks = 1 << 16;

// Reading the clock costs as much as a small task: a worker reads it after as many tasks as it
// lately ran in 5 us.
struct Pace {
  std::int64_t left = 0;
  std::int64_t tasks = 1;
  std::int64_t since_ns = 0;
};
constinit thread_local Pace pace __attribute__((tls_model("initial-exec")));

using base::now_ns;

[[gnu::noinline]] void look_around() noexcept {
  auto* const here = agent.get();
  if (here == nullptr) {
    pace.left = most_tasks_between_looks;
    return;
  }
  auto const now = now_ns();
  auto const took = std::max<std::int64_t>(now - pace.since_ns, 1);
  pace.tasks = std::clamp<std::int64_t>(pace.tasks * look_every_ns / took, 1,
                                        std::min(2 * pace.tasks, most_tasks_between_looks));
  pace.left = pace.tasks;
  pace.since_ns = now;
  here->between_tasks(now);
}

// Others may be in the workers at the same time, and last longer than the run.
bool is_in_task_of_run(Agent const& here) noexcept {
  auto const* const worker = nigh::detail::this_stack->worker;
  return worker != nullptr && here.is_of(worker->pool) && here.is_in_run() && !worker->is_resident();
}

}  // namespace

namespace detail {

// After the task, not before it: while its slot is on top of the stack, it must not be given away.
void run_cluster_task(task_slot& slot, task_stack* popping) noexcept {
  function const* f;
  std::memcpy(&f, slot.closure, sizeof f);
  f->run(slot, popping);
  if (--pace.left <= 0) [[unlikely]]
    look_around();
}

void run_cluster_task_at_depth(task_slot& slot, task_stack* popping) noexcept {
  nigh::detail::at_depth const here(slot.depth);
  run_cluster_task(slot, popping);
}

void keep_exception(task_scope* scope, std::exception_ptr e) noexcept { scope->keep(std::move(e)); }

bool begin_free_task() noexcept {
  auto* const here = agent.get();
  if (here == nullptr || !is_in_task_of_run(*here)) return false;
  here->tasks().begin_free_task();
  return true;
}

void end_free_task() noexcept { agent.get()->tasks().end_free_task(); }

void fail_free_task(std::exception_ptr e) noexcept {
  agent.get()->tasks().fail_free_task(std::move(e));
}

std::exception_ptr remote_exception(function const& f, outcome const& what) noexcept {
  try {
    std::string const text(reinterpret_cast<char const*>(what.output.data()), what.output.size());
    return std::make_exception_ptr(remote_error(
        readable_name(f) + " on rank " + std::to_string(what.rank) + ": " + text, what.rank));
  } catch (...) {
    return std::current_exception();
  }
}

bool place(near where, placed const& task, byte_view input) {
  auto* const here = agent.get();
  if (here == nullptr) return false;
  if (where.rank() < 0 || where.rank() >= here->ranks())
    throw std::out_of_range("near: rank " + std::to_string(where.rank()) + " does not exist");
  // A rank that takes no tasks leaves it to a queue here, of which no isolated thread takes any.
  bool const may_go = is_in_task_of_run(*here) && !nigh::detail::in_isolated_region();
  return may_go && here->place(where.rank(), task, input);
}

void end_placed(placed const& task, outcome const& what) noexcept {
  try {
    if (what.failed)
      task.scope->keep(remote_exception(*task.what, what));
    else
      task.store(task.out, what.output);
  } catch (...) {
    task.scope->keep(std::current_exception());
  }
  task.scope->end_placed();
}

bytes run_root(function const& f, bytes input) {
  auto* const here = agent.get();
  if (here == nullptr) throw std::logic_error("nigh::cluster::run called without a session");
  return here->run(f, std::move(input));
}

}  // namespace detail

nigh::detail::task_stack* task_scope::stack_of_spawner() const noexcept {
  auto* const here = nigh::detail::this_stack;
  auto const* const host = here->worker;
  auto const* const ours = stack_->worker;
  return host != nullptr && ours != nullptr && &host->pool == &ours->pool ? here : nullptr;
}

void task_scope::await_placed() noexcept {
  auto& me = *stack_->worker;
  me.await_zero(placed_);
}

// The scope may be gone as soon as its count is 0.
void task_scope::end_placed() noexcept {
  auto* const waiting = stack_->worker;
  base::announce_release(&placed_);
  if (placed_.fetch_sub(1, sync::seq_cst) != 1) return;  // (stack.E) (parking.S)
  if (waiting != nullptr) waiting->wake();
}

void task_scope::keep(std::exception_ptr e) noexcept {
  if (!failed_.exchange(true, sync::relaxed)) exception_ = std::move(e);
}

void task_scope::rethrow() {
  failed_.store(false, sync::relaxed);
  std::rethrow_exception(std::exchange(exception_, nullptr));
}

void task_scope::leave() {
  if (std::uncaught_exceptions() <= in_flight_) rethrow();
}

}  // namespace nigh::cluster
