// SPDX-License-Identifier: Apache-2.0
#include "runtime/scheduler.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <nigh/array.hpp>
#include <nigh/blocking_scope.hpp>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/assert.hpp"
#include "platform/affinity.hpp"
#include "platform/cgroup.hpp"
#include "platform/fence_everywhere.hpp"
#include "platform/thread.hpp"
#include "platform/unknown_variables.hpp"
#include "policy/cpus/thread_count.hpp"
#include "runtime/current_thread.hpp"
#include "runtime/environment.hpp"

namespace nigh::tasks {
namespace {

[[noreturn]] void refuse(runtime_options const& options, std::string const& option,
                         std::string const& why) {
  throw std::invalid_argument(option_as_given(options, option) + ": " + why);
}

// A task threw, and the runtime ends before anybody called wait().
void say_what_was_lost(std::exception_ptr const& exception) noexcept {
  auto const say = [](char const* what) {
    std::fprintf(stderr, "nigh: a task threw, and nobody waited for it: %s\n", what);
  };
  try {
    std::rethrow_exception(exception);
  } catch (std::exception const& e) {
    say(e.what());
  } catch (...) {
    say("something that is no std::exception");
  }
}

// As many cpus as the cgroup's quota has time for, from where the program is now: so other programs
// under quotas do not all crowd on the machine's first cpus.
std::vector<int> within_quota(std::vector<int> cpus) {
  auto const all = static_cast<int>(cpus.size());
  int const some = policy::cpus_within(platform::own_cpu_quota(), all);
  if (some == all) return cpus;
  auto const here = std::find(cpus.begin(), cpus.end(), platform::current_cpu());
  if (here != cpus.end()) std::rotate(cpus.begin(), here, cpus.end());
  cpus.resize(static_cast<std::size_t>(some));
  return cpus;
}

// Those of NIGH_WORKERS have been noted with the variable's name.
void note_more_workers_than(std::size_t cpus, std::size_t workers) {
  if (char const* const said = std::getenv("NIGH_WORKERS");
      said != nullptr && std::strtoul(said, nullptr, 10) == workers)
    return;
  note_once(std::to_string(workers) + " workers on " + std::to_string(cpus) +
            (cpus == 1 ? " cpu" : " cpus") + " take turns");
}

std::vector<int> chosen_cpus(topology const& machine, runtime_options const& options) {
  auto cpus =
      options.cpus.empty() ? machine.order(options.order, options.order_level) : options.cpus;
  for (std::size_t i = 0; i < options.cpus.size(); ++i) {
    if (machine.domain_of_cpu(cpus[i]) < 0)
      refuse(options, "cpus", "cpu " + std::to_string(cpus[i]) + " is not allowed");
    if (std::find(cpus.begin(), cpus.begin() + static_cast<std::ptrdiff_t>(i), cpus[i]) <
        cpus.begin() + static_cast<std::ptrdiff_t>(i))
      refuse(options, "cpus", "cpu " + std::to_string(cpus[i]) + " is named twice");
  }
  if (options.workers < 0)
    refuse(options, "workers", std::to_string(options.workers) + " is negative");
  auto const there = cpus.size();
  auto const wanted = static_cast<std::size_t>(options.workers);
  if (wanted > std::max<std::size_t>(most_workers, there))
    refuse(options, "workers",
           std::to_string(wanted) + " workers, more than " + std::to_string(most_workers));
  if (wanted > there && options.cpus.empty() && machine.is_this_host())
    note_more_workers_than(there, wanted);
  if (wanted > 0) cpus.resize(wanted);
  for (std::size_t w = there; w < wanted; ++w) cpus[w] = cpus[w - there];  // they take turns
  if (wanted == 0 && options.cpus.empty() && machine.is_this_host())
    return within_quota(std::move(cpus));
  return cpus;
}

void check(runtime_options const& options) {
  auto const capacity = options.queue_capacity;
  if (capacity == 0 || (capacity & (capacity - 1)) != 0)
    refuse(options, "queue_capacity", std::to_string(capacity) + " is not a power of two");
  if (capacity > std::size_t{1} << 32)
    refuse(options, "queue_capacity", std::to_string(capacity) + " is more than 4294967296");
  auto const stack = options.thread_stack_bytes, least_stack = platform::least_stack_bytes();
  if (stack < least_stack || stack > std::size_t{1} << 46)
    refuse(options, "thread_stack_bytes",
           std::to_string(stack) + " is not in " + std::to_string(least_stack) + " .. 70368744177664");
  if (options.task_capacity == 0 || options.task_capacity > (1u << 24))
    refuse(options, "task_capacity",
           std::to_string(options.task_capacity) + " is not in 1 .. 16777216");
  if (options.queue_level < level::core || options.queue_level > level::domain)
    refuse(options, "queue_level",
           std::string(to_string(options.queue_level)) + " is not core, l2, l3 or domain");
  if (options.depth_cutoff < 0)
    refuse(options, "depth_cutoff", std::to_string(options.depth_cutoff) + " is negative");
  if (options.queue_cutoff < 0)
    refuse(options, "queue_cutoff", std::to_string(options.queue_cutoff) + " is negative");
}

// Refuses options that make no sense. NIGH_TRACE counts for all runtimes, also for those whose
// options are made in code; but unlike in options_from_environment(), a file named there comes
// before it. A recorded runtime also counts.
runtime_options checked(runtime_options options) {
  platform::name_unknown_variables();
  check(options);
  char const* const file = std::getenv("NIGH_TRACE");
  if (options.trace_file.empty() && file != nullptr) options.trace_file = file;
  if (!options.trace_file.empty()) options.count_tasks = true;
  return options;
}

void add_to(worker_counters& row, trace::WorkerCounters const& c) {
  row.run += c.run.get();
  row.local += c.local.get();
  row.remote += c.remote.get();
  row.bytes_local += c.bytes_local.get();
  row.bytes_remote += c.bytes_remote.get();
  row.parked += c.parked.get();
  row.forked += c.forked.get();
  row.serialized += c.serialized.get();
  row.steals += c.steals.get();
  row.stolen += c.stolen.get();
  row.failed_steals += c.failed_steals.get();
  row.run_for_domain.resize(c.domain_count);
  for (std::size_t d = 0; d < c.domain_count; ++d)
    row.run_for_domain[d] += c.run_for_domain[d].get();
  row.steals_at.resize(c.steals_at.size());
  for (std::size_t l = 0; l < c.steals_at.size(); ++l) row.steals_at[l] += c.steals_at[l].get();
}

topology const& machine_of(runtime_options const& options) {
  return options.machine != nullptr ? *options.machine : this_host();
}

// Runs on the worker's own thread, so that its memory lies in its domain.
void set_up(Worker& me) {
  auto& pool = me.pool;
  if (pool.machine.is_this_host() && !platform::pin_this_thread({&me.cpu, 1}))
    pool.pinned.store(false, sync::relaxed);
  me.buffer = std::make_unique<Pool::Queue>(local_buffer_capacity);
  if (!me.set_up_stack()) throw std::bad_alloc();
  if (pool.layout.group(me.group).workers.front() == me.index)
    pool.group(me.group).queue = std::make_unique<Pool::Queue>(pool.options.queue_capacity);
}

}  // namespace

// ---- the beginning

Scheduler::Scheduler(runtime_options const& options, WorkSource& source)
    : pool_(*this, machine_of(options), checked(options), chosen_cpus(machine_of(options), options),
            source) {
  start_recording();
  start_threads();
}

void Scheduler::start_recording() {
  std::vector<trace::Recorder::TrackInfo> tracks;
  int const n = pool_.layout.workers();
  for (auto const& w : pool_.threads.all()) {
    auto const number = std::to_string(w->is_external() ? w->index - 2 * n : w->index % n);
    auto const cpu = " (cpu " + std::to_string(w->cpu) + ")";
    // Trace files, a stable format, say "stand-in" for a backup thread and "guest" for an external
    // one.
    if (w->is_worker())
      tracks.push_back({"worker " + number + cpu, &w->counters});
    else if (w->is_external())
      tracks.push_back({"guest " + number, &w->counters, false});
    else
      tracks.push_back({"stand-in " + number + cpu, &w->counters, false});
  }
  recorder_ = trace::Recorder::start(pool_.options.trace_file, std::move(tracks));
  if (recorder_ == nullptr) return;
  for (auto const& w : pool_.threads.all()) w->trace.write_to(recorder_->track(w->index));
}

void Scheduler::start_threads() {
  auto const workers = pool_.layout.workers();
  ready_.emplace(workers);
  std::string error;
  platform::prepare_fence_everywhere();
  if (!pool_.threads.start_workers([this](Worker& me) { live(me); }, error)) {
    // The threads that did start wait for the others; let them through, to their end.
    pool_.stopping.store(true, sync::relaxed);
    ready_->count_down(workers - static_cast<std::ptrdiff_t>(pool_.threads.started()));
    stop_threads();
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again), error);
  }
  ready_->wait();
  if (pool_.stopping.load(sync::relaxed)) {
    stop_threads();
    std::rethrow_exception(pool_.failure.take());
  }
  pool_.arena->start();
}

// A worker's whole life. No worker begins before all are set up.
void Scheduler::live(Worker& me) noexcept {
  name_this_thread(me);
  await_end_of_this_thread();  // it allocates
  try {
    set_up(me);
  } catch (...) {
    pool_.failure.keep();
    pool_.stopping.store(true, sync::relaxed);  // the latch orders it before the loads that follow
  }
  ready_->arrive_and_wait();
  if (pool_.stopping.load(sync::relaxed)) return;
  become(me);
  pool_.arena->woke();
  me.run_loop();
  pool_.arena->falls_asleep();
}

// ---- the end

bool Scheduler::is_in_use() noexcept {
  if (pool_.is_inherited()) return false;
  auto const externals = pool_.threads.externals();
  return my_worker() != nullptr ||
         std::any_of(externals.begin(), externals.end(),
                     [](auto const& slot) { return slot->taken.is_locked(); });
}

Scheduler::~Scheduler() {
  if (pool_.is_inherited()) return;
  NIGH_ASSERT(my_worker() == nullptr, "no task destroys the runtime it runs in");
  for (auto const& slot : pool_.threads.externals())
    NIGH_ASSERT(!slot->taken.is_locked(),
                "a runtime is destroyed when no thread is in its scopes or invoke()");
  pool_.quiescence.wait([&] { return pool_.all_done(); });
  if (auto const lost = pool_.failure.take()) say_what_was_lost(lost);
  stop_threads();
}

void Scheduler::stop_threads() noexcept {
  pool_.stopping.store(true, sync::seq_cst);  // (parking.S)
  pool_.arena->stop();
  pool_.threads.end_threads();
}

// ---- queued tasks

Worker* Scheduler::my_worker() const noexcept {
  auto* const me = current_worker();
  return me != nullptr && &me->pool == &pool_ ? me : nullptr;
}

// The group whose queue a task goes into. Tasks near a domain with several groups are dealt out.
int Scheduler::group_for(near where, Worker const* me) noexcept {
  if (where.queue() != near::anywhere) return where.queue();
  auto const in_turn = [this](std::size_t n) {
    return n == 1 ? 0 : next_group_.fetch_add(1, sync::relaxed) % n;
  };
  if (where.domain() != near::anywhere) {
    auto const& there = pool_.layout.groups_of_domain(where.domain());
    return there[in_turn(there.size())];
  }
  return me != nullptr ? me->group : static_cast<int>(in_turn(pool_.layout.groups().size()));
}

near Scheduler::resolved(near where) const {
  check_process();
  if (int const q = where.queue(); q != near::anywhere) {
    if (q < 0 || q >= static_cast<int>(pool_.layout.groups().size()))
      throw std::out_of_range("near: queue " + std::to_string(q) + " does not exist");
    return near::at_queue(q, pool_.layout.group(q).domain, where.bytes());
  }
  int const domain =
      where.address() != nullptr ? nigh::domain_of(where.address(), pool_.machine) : where.domain();
  if (domain < near::anywhere || domain >= pool_.layout.domains())
    throw std::out_of_range("near: domain " + std::to_string(domain) + " does not exist");
  return near(domain, where.bytes());
}

void Scheduler::check_process() const {
  if (pool_.is_inherited())
    throw std::logic_error("this nigh::runtime was made before fork(): it has no workers here");
}

// Runs the task right here if asked to, or if the queue is full: so memory stays bounded, and the
// task is not lost.
void Scheduler::submit(near where, detail::task& t, bool runs_here) {
  check_process();
  t.domain = where.domain();
  t.bytes = where.bytes();

  auto* const me = my_worker();
  bool const limited = pool_.options.pending_limit > 0;
  if (limited) pool_.pending.fetch_add(1, sync::relaxed);
  if (me != nullptr)
    me->tasks.count_spawned();
  else
    pool_.tasks_of_others.count_spawned();

  int const g = group_for(where, me);
  if (runs_here || !pool_.group(g).queue->push({&t, 1})) {
    run_queued(pool_, t, me);
    return;
  }
  pool_.parking.notify(g, pool_.layout.reach(g));
  if (limited &&
      pool_.pending.load(sync::relaxed) >= static_cast<std::int64_t>(pool_.options.pending_limit))
    run_one_waiting(me);
}

// It may outlast the task that calls this.
void Scheduler::submit(near where, detail::task t) {
  t.is_resident = pool_.gives_tasks;
  submit(where, t, false);
}

// A queue is first in, first out: a worker that waits for a task far behind runs all before it on
// top of its own stack, and each of these may wait likewise. A worker with little stack left no
// longer helps, and if all workers come to that, nobody takes the tasks they wait for. So such
// tasks are not queued.
void Scheduler::submit_or_run(near where, detail::task t) {
  auto const* const here = detail::this_stack->worker;
  t.is_resident = pool_.gives_tasks && (here == nullptr || &here->pool != &pool_ || here->is_resident());
  submit(where, t, platform::stack_left() <= 2 * pool_.stack_needed_to_help());
}

// The paper's rule at the bound: the submitter runs the task that an idle worker would take there.
void Scheduler::run_one_waiting(Worker* me) noexcept {
  detail::task t;
  if (me != nullptr) {
    if (me->find_in_own_queue(t) || pool_.find_in_buffers(me->group, t) ||
        pool_.find_in_other_groups(me->group, t))
      run_queued(pool_, t, me);
    return;
  }
  int const domain = pool_.machine.domain_of_cpu(platform::current_cpu());
  int const g = domain < 0 ? 0 : pool_.layout.groups_of_domain(domain).front();
  if (pool_.find_for_external(g, t)) run_queued(pool_, t, nullptr);
}

void Scheduler::check_may_wait(char const* caller) const {
  check_process();
  auto const* const me = detail::this_stack->worker;
  if (my_worker() != nullptr || (me != nullptr && &me->pool == &pool_ && me->frames > 0))
    throw std::logic_error("runtime::" + std::string(caller) +
                           " called from inside a task, which would wait for itself");
}

void Scheduler::wait() {
  check_may_wait("wait");
  // Within invoke(), the worker that it displaces may go on; a worker of another runtime, on whose
  // tasks these may wait, leaves its place to its backup thread.
  std::optional<blocking_scope> blocks;
  if (detail::this_stack->worker != nullptr) blocks.emplace();
  pool_.quiescence.wait([&] { return pool_.all_done(); });
  auto const first = pool_.failure.take();
  if (first) std::rethrow_exception(first);
}

// ---- counters

std::vector<worker_counters> Scheduler::counters() const {
  std::vector<worker_counters> all;
  for (auto const& w : pool_.threads.workers()) {
    auto& row = all.emplace_back();
    row.cpu = w->cpu;
    row.domain = w->domain;
    add_to(row, w->counters);
    add_to(row, pool_.threads.backup_of(*w).counters);
  }
  return all;
}

worker_counters Scheduler::external_counters() const {
  worker_counters row;
  for (auto const& slot : pool_.threads.externals()) add_to(row, slot->counters);
  return row;
}

void Scheduler::reset_counters() noexcept {
  if (recorder_ != nullptr) recorder_->counters_reset();
  for (auto const& w : pool_.threads.all()) w->counters.reset();
}

}  // namespace nigh::tasks
