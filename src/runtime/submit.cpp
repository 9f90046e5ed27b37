// SPDX-License-Identifier: Apache-2.0
// What spawners do, and the public face of the runtime.

#include <nigh/array.hpp>
#include <stdexcept>
#include <string>

#include "platform/affinity.hpp"
#include "runtime/current.hpp"
#include "runtime/scheduler.hpp"

namespace nigh::detail {

scheduler::Worker* scheduler::this_worker() const noexcept {
  return current.owner == this ? current.worker : nullptr;
}

// Into whose queue a task goes. Those near a domain that has several are dealt out.
int scheduler::home_for(near where, Worker const* me) noexcept {
  if (where.queue() != near::anywhere) return where.queue();
  auto const in_turn = [this](std::size_t n) {
    return n == 1 ? 0 : next_home_.fetch_add(1, sync::relaxed) % n;
  };
  if (where.domain() != near::anywhere) {
    auto const& there = layout_.groups_of_domain(where.domain());
    return there[in_turn(there.size())];
  }
  return me != nullptr ? me->home : static_cast<int>(in_turn(homes_.size()));
}

near scheduler::resolved(near where) const {
  check_process();
  if (int const q = where.queue(); q != near::anywhere) {
    if (q < 0 || q >= queues())
      throw std::out_of_range("near: queue " + std::to_string(q) + " does not exist");
    return near::at_queue(q, layout_.group(q).domain, where.bytes());
  }
  int const domain =
      where.address() != nullptr ? nigh::domain_of(where.address(), machine_) : where.domain();
  if (domain < near::anywhere || domain >= layout_.domains())
    throw std::out_of_range("near: domain " + std::to_string(domain) + " does not exist");
  return near(domain, where.bytes());
}

void scheduler::check_process() const {
  if (inherited())
    throw std::logic_error("this nigh::runtime was made before fork(): it has no workers here");
}

// Runs it right here if runs_here() says so, or if the queue is full: then the bound on memory is
// kept, and the task is not lost.
template <class Here>
void scheduler::submit(near where, task& t, Here runs_here) {
  check_process();
  t.domain = where.domain();
  t.bytes = where.bytes();

  auto* const me = this_worker();
  bool const limited = options_.pending_limit > 0;
  if (limited) pending_.fetch_add(1, sync::relaxed);
  if (me != nullptr)
    me->tasks.spawned();
  else
    outside_.spawned();

  int const h = home_for(where, me);
  if (runs_here() || !home(h).queue->push({&t, 1})) {
    run(t, me);
    return;
  }
  parking_->notify(h, layout_.reach(h));
  if (limited && pending_.load(sync::relaxed) >= static_cast<std::int64_t>(options_.pending_limit))
    run_one_waiting(me);
}

void scheduler::submit(near where, task t) {
  submit(where, t, [] { return false; });
}

// A queue is first in, first out: a worker that waits for a task far behind runs all before it on
// top of its own stack, and each of these may wait likewise. Who waits with little stack left no
// longer helps, and if all do so, nobody takes the tasks they wait for. So these are not queued.
void scheduler::submit_awaited(near where, task t) {
  submit(where, t, [this] { return platform::stack_left() <= 2 * stack_to_help(); });
}

// The paper's rule at the bound: the submitter runs the task that an idle worker would take there.
void scheduler::run_one_waiting(Worker* me) noexcept {
  task t;
  if (me != nullptr) {
    if (find_at_home(*me, t) || find_in_rings(me->home, t) || find_abroad(me->home, t)) run(t, me);
    return;
  }
  int const domain = machine_.domain_of_cpu(platform::current_cpu());
  int const h = domain < 0 ? 0 : layout_.groups_of_domain(domain).front();
  std::size_t taken = 0;
  auto const one = [](std::size_t) { return std::size_t{1}; };
  if (home(h).queue->take({&t, 1}, taken, one) == tasks::Take::taken || find_abroad(h, t))
    run(t, nullptr);
}

void scheduler::wait() {
  check_process();
  auto const* const seat = this_stack->worker;
  if (this_worker() != nullptr || (seat != nullptr && &seat->host == this && seat->frames > 0))
    throw std::logic_error("runtime::wait called from inside a task, which would wait for itself");
  quiescence_.wait([&] { return all_done(); });
  std::exception_ptr first;
  {
    std::lock_guard const guard(exception_lock_);
    std::swap(first, exception_);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace nigh::detail

namespace nigh {

runtime::runtime(runtime_options options)
    : scheduler_(std::make_unique<detail::scheduler>(options)) {}
runtime::runtime(runtime_options options, tasks::Outside& outside)
    : scheduler_(std::make_unique<detail::scheduler>(options, &outside)) {}
runtime::~runtime() = default;

near runtime::resolved(near where) const { return scheduler_->resolved(where); }
void runtime::submit(near where, detail::task t) { scheduler_->submit(where, t); }
void runtime::wait() { scheduler_->wait(); }
int runtime::workers() const noexcept { return scheduler_->workers(); }
int runtime::workers_now() const { return scheduler_->workers_now(); }
topology const& runtime::machine() const noexcept { return scheduler_->machine(); }
int runtime::queues() const noexcept { return scheduler_->queues(); }
int runtime::domain_of_queue(int queue) const { return scheduler_->domain_of_queue(queue); }
std::vector<int> const& runtime::queues_of(int domain) const {
  return scheduler_->queues_of(domain);
}
bool runtime::pinned() const noexcept { return scheduler_->pinned(); }
std::vector<worker_counters> runtime::counters() const { return scheduler_->counters(); }
worker_counters runtime::guest_counters() const { return scheduler_->guest_counters(); }
void runtime::reset_counters() noexcept { scheduler_->reset_counters(); }

int this_worker::index() noexcept {
  auto const* w = detail::current.worker;
  return w != nullptr ? w->seat : -1;
}
int this_worker::queue() noexcept {
  auto const* w = detail::current.worker;
  return w != nullptr ? w->home : -1;
}
int this_worker::domain() noexcept {
  auto const* w = detail::current.worker;
  return w != nullptr ? w->domain : -1;
}

}  // namespace nigh
