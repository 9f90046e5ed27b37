// SPDX-License-Identifier: Apache-2.0
// How a scheduler begins and ends.

#include "runtime/scheduler.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/assert.hpp"
#include "platform/affinity.hpp"
#include "platform/cgroup.hpp"
#include "platform/futex.hpp"
#include "policy/fork.hpp"
#include "policy/quota.hpp"
#include "runtime/current.hpp"
#include "runtime/until.hpp"

namespace nigh::detail {
namespace {

constexpr int guest_seats = 64;

[[noreturn]] void refuse(std::string const& option, std::string const& why) {
  throw std::invalid_argument("runtime_options::" + option + ": " + why);
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

// As many as the cgroup's quota has time for. From where the program is now: other programs under
// quotas then do not all crowd on the machine's first cpus.
std::vector<int> within_quota(std::vector<int> cpus) {
  auto const all = static_cast<int>(cpus.size());
  int const some = policy::cpus_within(platform::own_cpu_quota(), all);
  if (some == all) return cpus;
  auto const here = std::find(cpus.begin(), cpus.end(), platform::current_cpu());
  if (here != cpus.end()) std::rotate(cpus.begin(), here, cpus.end());
  cpus.resize(static_cast<std::size_t>(some));
  return cpus;
}

std::vector<int> chosen_cpus(topology const& machine, runtime_options const& options) {
  auto cpus =
      options.cpus.empty() ? machine.order(options.order, options.order_level) : options.cpus;
  for (std::size_t i = 0; i < options.cpus.size(); ++i) {
    if (machine.domain_of_cpu(cpus[i]) < 0)
      refuse("cpus", "cpu " + std::to_string(cpus[i]) + " is not allowed");
    if (std::find(cpus.begin(), cpus.begin() + static_cast<std::ptrdiff_t>(i), cpus[i]) <
        cpus.begin() + static_cast<std::ptrdiff_t>(i))
      refuse("cpus", "cpu " + std::to_string(cpus[i]) + " is named twice");
  }
  auto const allowed = std::to_string(cpus.size());
  if (options.workers < 0) refuse("workers", std::to_string(options.workers) + " is negative");
  auto const wanted = static_cast<std::size_t>(options.workers);
  if (wanted > cpus.size())
    refuse("workers", std::to_string(wanted) + " workers, but only " + allowed + " cpus are " +
                          (options.cpus.empty() ? "allowed" : "named"));
  if (wanted > 0) cpus.resize(wanted);
  if (wanted == 0 && options.cpus.empty() && machine.is_this_host())
    return within_quota(std::move(cpus));
  return cpus;
}

void check(runtime_options const& options) {
  auto const capacity = options.queue_capacity;
  if (capacity == 0 || (capacity & (capacity - 1)) != 0)
    refuse("queue_capacity", std::to_string(capacity) + " is not a power of two");
  if (options.task_capacity == 0 || options.task_capacity > (1u << 24))
    refuse("task_capacity", std::to_string(options.task_capacity) + " is not in 1 .. 16777216");
  if (options.queue_level < level::core || options.queue_level > level::domain)
    refuse("queue_level",
           std::string(to_string(options.queue_level)) + " is not core, l2, l3 or domain");
  if (options.depth_cutoff < 0)
    refuse("depth_cutoff", std::to_string(options.depth_cutoff) + " is negative");
  if (options.queue_cutoff < 0)
    refuse("queue_cutoff", std::to_string(options.queue_cutoff) + " is negative");
}

// Refuses what makes no sense. NIGH_TRACE is for all runtimes, also for those whose options are
// made in code. What is recorded is counted, too.
runtime_options checked(runtime_options options) {
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

}  // namespace

scheduler::scheduler(runtime_options const& options, tasks::Outside* outside)
    : machine_(options.machine != nullptr ? *options.machine : this_host()),
      options_(checked(options)),
      layout_(machine_, chosen_cpus(machine_, options),
              {options.queue_level, options.mode == locality::strict}),
      outside_tasks_(outside),
      process_(forks_so_far()) {
  add_seats();
  make_parking();
  start_recording();
  make_arena();
  start_threads();
}

scheduler::~scheduler() {
  if (inherited()) {  // its threads are the parent's
    for (auto& seat : seats_) static_cast<void>(seat->ring.release());
    static_cast<void>(arena_.release());
    return;
  }
  NIGH_ASSERT(this_worker() == nullptr, "no task destroys the runtime it runs in");
  for (auto const& seat : extras())
    NIGH_ASSERT(seat->role != tasks::Role::guest || seat->duty.load(sync::relaxed) == Worker::off,
                "a runtime is destroyed when no thread is in its scopes or invoke()");
  quiescence_.wait([&] { return all_done(); });
  if (exception_) say_what_was_lost(exception_);
  stop_threads();
}

// Who takes from a group's queue, and whom it wakes for its own.
void scheduler::make_parking() {
  std::vector<std::vector<int>> workers_of, wake_order;
  for (int self = 0; self < queues(); ++self) {
    auto const& group = layout_.group(self);
    workers_of.push_back(home(self).buffers);
    wake_order.push_back({self});
    wake_order.back().insert(wake_order.back().end(), group.others.begin(), group.others.end());
  }
  parking_.emplace(std::move(workers_of), std::move(wake_order), seats_.size());
}

// Workers, a stand-in beside each, and room for guests. The stacks of the latter two are set up
// when first needed.
void scheduler::add_seats() {
  worker_count_ = layout_.workers();
  auto const add = [&](tasks::Role role, int at) {
    seats_.push_back(std::make_unique<Worker>(*this, static_cast<int>(seats_.size()), role,
                                              layout_.cpu_of(at), layout_.domain_of(at),
                                              layout_.group_of(at), machine_.domains().size()));
    auto& added = *seats_.back();
    added.near_worker.store(at, sync::relaxed);
    if (role == tasks::Role::guest) return;
    added.plan = &layout_.victims_of(at);
    home(added.home).buffers.push_back(added.seat);
  };
  homes_.resize(static_cast<std::size_t>(queues()));
  for (int w = 0; w < worker_count_; ++w) add(tasks::Role::worker, w);
  for (int w = 0; w < worker_count_; ++w) {
    add(tasks::Role::stand_in, w);
    seats_.back()->beside = &worker(w);
    seats_.back()->ring = std::make_unique<Queue>(tasks::ring_capacity);
  }
  for (int g = 0; g < guest_seats; ++g) add(tasks::Role::guest, 0);
  extras_end_.store(worker_count_, sync::relaxed);
  stand_ins_.resize(static_cast<std::size_t>(worker_count_));
}

void scheduler::start_recording() {
  std::vector<trace::Recorder::TrackInfo> tracks;
  for (auto const& w : seats_) {
    auto const number = std::to_string(w->role == tasks::Role::guest ? w->seat - 2 * worker_count_
                                                                     : w->seat % worker_count_);
    auto const cpu = " (cpu " + std::to_string(w->cpu) + ")";
    if (w->role == tasks::Role::worker) tracks.push_back({"worker " + number + cpu, &w->counters});
    if (w->role == tasks::Role::stand_in)
      tracks.push_back({"stand-in " + number + cpu, &w->counters, false});
    if (w->role == tasks::Role::guest) tracks.push_back({"guest " + number, &w->counters, false});
  }
  recorder_ = trace::Recorder::start(options_.trace_file, std::move(tracks));
  if (recorder_ == nullptr) return;
  for (auto const& w : seats_) w->track = &recorder_->track(w->seat);
}

// Who names the cpus of a runtime has decided about them.
void scheduler::make_arena() {
  if (tasks::make_lease_source == nullptr || !options_.cpus.empty() || worker_count_ < 2) return;
  policy::ArenaWorkers workers;
  workers.cpu_of = cpus();
  auto source = tasks::make_lease_source(machine_, workers.cpu_of);
  if (source == nullptr) return;
  workers.home_of = crew().home_of;
  workers.homes = crew().homes();
  workers.each_home_needs_one = options_.mode == locality::strict;
  arena_ = std::make_unique<tasks::Arena>(std::move(source), std::move(workers),
                                          [this](auto const& members) { admit(members); });
}

// Who may run is let out of its rest first: there is always one who looks for work. Then those who
// are to leave are woken where spawners look for sleepers, to sleep elsewhere.
void scheduler::admit(tasks::Arena::Members const& members) noexcept {
  auto const ask = [&](Worker& w, Worker::Leave what) {
    if (w.asked_to.load(sync::relaxed) == what) return;
    w.asked_to.store(what, sync::seq_cst);  // (S)
    platform::futex_wake_all(w.asked_to);
    parking_->wake(w.seat, w.home);
  };
  for (auto const what : {Worker::stay, Worker::leave})
    for (int w = 0; w < worker_count_; ++w)
      if (members[static_cast<std::size_t>(w)] == (what == Worker::stay)) {
        ask(worker(w), what);
        ask(worker(worker_count_ + w), what);
      }
}

void scheduler::start_threads() {
  ready_.emplace(worker_count_);
  for (auto& w : pinned_workers()) {
    auto thread = platform::Thread::start(options_.thread_stack_bytes, [this, &w] { live(*w); });
    if (thread) {
      threads_.push_back(*thread);
      continue;
    }
    // The threads that did start wait for the others; let them through, to their end.
    stopping_.store(true, sync::relaxed);
    ready_->count_down(worker_count_ - static_cast<std::ptrdiff_t>(threads_.size()));
    stop_threads();
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            thread.message());
  }
  ready_->wait();
  if (stopping_.load(sync::relaxed)) {
    stop_threads();
    std::rethrow_exception(exception_);
  }
  if (arena_ != nullptr) arena_->start();
}

// A worker's whole life. Nobody works before everybody is set up.
void scheduler::live(Worker& me) noexcept {
  try {
    set_up(me);
  } catch (...) {
    keep_exception();
    stopping_.store(true, sync::relaxed);  // the latch orders it before the loads behind it
  }
  ready_->arrive_and_wait();
  if (stopping_.load(sync::relaxed)) return;
  current = {this, &me};
  this_stack = &me.stack;
  if (arena_ != nullptr) arena_->woke();
  serve(me, Ending{*this});
  if (arena_ != nullptr) arena_->falls_asleep();
}

// On the worker's own thread, so that what it allocates lies in its domain.
void scheduler::set_up(Worker& me) {
  if (machine_.is_this_host() && !platform::pin_this_thread({&me.cpu, 1}))
    pinned_.store(false, sync::relaxed);
  me.ring = std::make_unique<Queue>(tasks::ring_capacity);
  if (!set_up_stack(me)) throw std::bad_alloc();
  if (layout_.group(me.home).workers.front() == me.seat)
    home(me.home).queue = std::make_unique<Queue>(options_.queue_capacity);
}

// All zeroes is an empty slot, so the memory is first touched by the pushes that need it.
bool scheduler::set_up_stack(Worker& me) noexcept {
  auto& stack = me.stack;
  auto const capacity = options_.task_capacity;
  auto* const slots = static_cast<task_slot*>(platform::map_zeroes(capacity * sizeof(task_slot)));
  if (slots == nullptr) return false;
  stack.slots = stack.top = stack.split = stack.base = slots;
  stack.capacity = static_cast<std::uint32_t>(capacity);
  me.room_ends = slots + capacity;
  stack.limit = limits_forks() ? slots : me.room_ends;
  bool const has_thieves =
      worker_count_ > 1 || me.role != tasks::Role::worker || outside_tasks_ != nullptr;
  stack.share_goal = has_thieves ? policy::tasks_kept_shared : 0;
  stack.wanted.store(has_thieves, sync::relaxed);
  return true;
}

void scheduler::stop_threads() noexcept {
  stopping_.store(true, sync::seq_cst);  // (S)
  if (arena_ != nullptr) arena_->stop();
  for (int w = 0; w < worker_count_; ++w) {
    auto& duty = worker(worker_count_ + w).duty;
    duty.store(Worker::ended, sync::seq_cst);
    platform::futex_wake_all(duty);
  }
  parking_->wake_all();
  for (auto& t : threads_) t.join();
  for (auto& t : stand_ins_)
    if (t) t->join();
  for (auto& seat : seats_)
    if (seat->stack.slots != nullptr)
      platform::unmap(seat->stack.slots, seat->stack.capacity * sizeof(task_slot));
}

std::vector<worker_counters> scheduler::counters() const {
  std::vector<worker_counters> all;
  for (auto const& w : pinned_workers()) {
    auto& row = all.emplace_back();
    row.cpu = w->cpu;
    row.domain = w->domain;
    add_to(row, w->counters);
    add_to(row, worker(worker_count_ + w->seat).counters);
  }
  return all;
}

worker_counters scheduler::guest_counters() const {
  worker_counters row;
  for (auto const& seat : seats_)
    if (seat->role == tasks::Role::guest) add_to(row, seat->counters);
  return row;
}

void scheduler::reset_counters() noexcept {
  if (recorder_ != nullptr) recorder_->counters_reset();
  for (auto& w : seats_) w->counters.reset();
}

}  // namespace nigh::detail
