// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scheduler behind nigh::runtime: workers with a task stack each, one locality queue for those
// of each domain, or of each cache, and the count that tells when all queued tasks have run.
// src/runtime/README.md explains it as a whole.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <nigh/runtime.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/atomic.hpp"
#include "platform/thread.hpp"
#include "policy/idle.hpp"
#include "policy/loop_schedule.hpp"
#include "policy/team_plan.hpp"
#include "policy/worker_layout.hpp"
#include "runtime/arena.hpp"
#include "runtime/locality_queue.hpp"
#include "runtime/outside.hpp"
#include "runtime/parking.hpp"
#include "runtime/quiescence.hpp"
#include "runtime/worker.hpp"
#include "trace/recorder.hpp"

namespace nigh::detail {

class scheduler {
 public:
  explicit scheduler(runtime_options const& options, tasks::Outside* outside = nullptr);
  ~scheduler();

  near resolved(near where) const;
  void submit(near where, task t);          // where: as resolved() gives it
  void submit_awaited(near where, task t);  // by a task, which may have no stack left to help
  void wait();

  int workers() const noexcept { return worker_count_; }
  std::vector<int> const& cpus() const noexcept { return layout_.cpus(); }  // of the workers
  int workers_now() const { return arena_ != nullptr ? arena_->members() : worker_count_; }
  std::size_t seats() const noexcept { return seats_.size(); }
  int queues() const noexcept { return static_cast<int>(layout_.groups().size()); }
  int domain_of_queue(int queue) const {
    return layout_.groups().at(static_cast<std::size_t>(queue)).domain;
  }
  std::vector<int> const& queues_of(int domain) const { return layout_.groups_of_domain(domain); }
  topology const& machine() const noexcept { return machine_; }
  policy::Crew const& crew() const noexcept { return layout_.crew(); }
  schedule const& loops() const noexcept { return options_.loops; }
  bool pinned() const noexcept { return pinned_.load(sync::relaxed); }
  std::vector<worker_counters> counters() const;
  worker_counters guest_counters() const;
  void reset_counters() noexcept;

  using Worker = tasks::Worker;

  // For forked tasks, on the thread whose stack it is. steal.cpp
  void share(Worker& me) noexcept;  // publishes some, and sees that somebody takes them
  void share_all(Worker& me) noexcept;
  void publish(Worker& me, std::uint32_t n) noexcept;
  bool run_top(Worker& me) noexcept;     // runs the topmost task, unless it has been stolen
  void finish_top(Worker& me) noexcept;  // runs or awaits it
  void finish_down_to(Worker& me, task_slot* top) noexcept;
  // Helps others until `word` is 0 (a scope's count of queued tasks).
  void await_zero(Worker& me, sync::atomic<std::uint32_t> const& word) noexcept;
  void wake(Worker const& waiting) noexcept;      // what it awaits has come
  std::uint32_t steal_once(Worker& me) noexcept;  // and runs what it got: so many tasks
  bool limits_forks() const noexcept {
    return options_.count_tasks || options_.depth_cutoff > 0 || options_.queue_cutoff > 0;
  }
  bool may_fork(Worker& me) noexcept;  // by stack and cutoffs; counts either way

  // invite.cpp. Hosts may invite any workers but the one in whose place they are.
  bool invite(int worker, tasks::Invitation& to) noexcept;     // false: it is invited elsewhere
  bool disinvite(int worker, tasks::Invitation& to) noexcept;  // false: it has come
  // As they are set up now: [worker], empty for all of them.
  std::shared_ptr<policy::TeamPlan const> teams(int spread, int active, bool smt);
  policy::TeamSeats const& team_seats();

  // guests.cpp
  Worker* take_seat() noexcept;  // null: all are taken
  void leave_seat(Worker& guest) noexcept;
  // A guest's thread is nobody's to pin: when it has been moved to another domain, so is its seat.
  void follow(Worker& me) noexcept {
    if (me.role == tasks::Role::guest && crew().homes() > 1) follow_guest(me);
  }
  bool inherited() const noexcept;  // we are in a child of the process that made this

  // blocking.cpp
  // Has a worker's stand-in work on its cpu until resume(). False when there is none to begin: the
  // caller is no worker, or relieved already, or the system refuses a thread.
  bool relieve(Worker& me) noexcept;
  void resume(Worker& me) noexcept;

  // outside.cpp. For whoever is outside, on any thread, worker or not.
  // Takes the oldest tasks of some stack, as a thief does, so many as how_many(shared) says; the
  // caller sees to it that each is finished. False when nobody shares any; all are asked to, then.
  struct Taken {
    Worker* victim = nullptr;
    task_stack::loot tasks;
  };
  using HowMany = std::function<std::size_t(std::size_t waiting)>;
  bool take_for_outside(Taken& taken, HowMany const& how_many) noexcept;
  static task run_here_after_all(Worker& victim, task_slot& slot) noexcept;
  void finish_outside(Worker& victim, task_slot& slot) noexcept;  // its results have been written
  Worker& seat(std::uint32_t at) noexcept { return *seats_[at]; }
  bool has_idle_workers() const noexcept;  // awake or asleep, and nothing shared to be taken
  void call_workers() noexcept;            // find() has something for them from now on

 private:
  using Queue = tasks::LocalityQueue<task>;

  // A queue group at work.
  struct Home {
    std::vector<int> buffers;      // those who have one: its workers, then their stand-ins
    std::unique_ptr<Queue> queue;  // made by its first worker, so that its memory is local
  };

  // Something to do: a queued task, tasks stolen from a stack, or what somebody invited to.
  struct Job {
    task queued;
    task_stack::loot stolen;
    Worker* victim = nullptr;              // null: none is stolen
    tasks::Invitation* invited = nullptr;  // both null: the queued one

    void clear() noexcept {
      victim = nullptr;
      invited = nullptr;
    }
  };

  // scheduler.cpp: begin and end
  void add_seats();
  void make_parking();
  void start_recording();
  void make_arena();
  void start_threads();
  void stop_threads() noexcept;
  void live(Worker& me) noexcept;
  void set_up(Worker& me);
  bool set_up_stack(Worker& me) noexcept;
  void check_process() const;

  // loop.cpp: what workers do. `Until` says when to leave, done() cheaply, surely_done() in the
  // order of all seq_cst operations.
  struct Ending;
  struct Dismissal;
  struct StolenTask;
  struct Zero;
  struct Relief;
  struct Searching {  // from construction to destruction, `me` is awake and looks for work
    Searching(scheduler& host_, Worker& me_, bool counted_) noexcept;
    ~Searching();
    template <class News>
    bool sleep(News news) noexcept;
    scheduler& host;
    Worker& me;
    bool const counted;
  };
  template <class Until>
  void serve(Worker& me, Until until) noexcept;
  template <class Until>
  void await(Worker& me, Until until) noexcept;
  template <class Until>
  bool search(Worker& me, Job& job, Until until) noexcept;
  template <class Until>
  void rest(Worker& me, Until until) noexcept;
  void admit(tasks::Arena::Members const& members) noexcept;
  bool linger(Worker& me, Job& job) noexcept;
  static bool find_invitation(Worker& me, Job& job) noexcept;
  bool find_at_home(Worker& me, task& t) noexcept;
  bool find_in_rings(int home, task& t) noexcept;
  bool find_abroad(int home, task& t) noexcept;
  bool find_outside(Worker& me, task& t) noexcept;
  bool work_in_sight(int home) const noexcept;
  void report_progress(Worker& me) noexcept;
  void run(Job& job, Worker& me) noexcept;
  void run(task& t, Worker* me) noexcept;
  void keep_exception() noexcept;
  bool all_done() const noexcept;

  // steal.cpp
  bool steal_somewhere(Worker& me, Job& job) noexcept;
  static bool take_own(Worker& me, Job& job) noexcept;
  bool steal_from(Worker& me, Worker& victim, level where, Job& job) noexcept;
  static level level_to(Worker const& me, Worker const& victim) noexcept;
  void run_stolen(Job const& job, Worker& me) noexcept;
  void run_invited(tasks::Invitation& to) noexcept;  // invite.cpp
  static void run_stolen_slot(task_slot& proxy, task_stack* popping) noexcept;
  void stand_in(Worker& me) noexcept;  // blocking.cpp: a stand-in's whole life

  // submit.cpp: what spawners do
  template <class Here>
  void submit(near where, task& t, Here runs_here);
  Worker* this_worker() const noexcept;
  int home_for(near where, Worker const* me) noexcept;
  void run_one_waiting(Worker* me) noexcept;

  std::size_t stack_to_help() const noexcept {
    return std::min(tasks::most_stack_to_help, options_.thread_stack_bytes / 4);
  }
  Home& home(int h) noexcept { return homes_[static_cast<std::size_t>(h)]; }
  Home const& home(int h) const noexcept { return homes_[static_cast<std::size_t>(h)]; }
  Worker& worker(int w) noexcept { return *seats_[static_cast<std::size_t>(w)]; }
  Worker const& worker(int w) const noexcept { return *seats_[static_cast<std::size_t>(w)]; }
  std::span<std::unique_ptr<Worker> const> pinned_workers() const noexcept {
    return {seats_.data(), static_cast<std::size_t>(worker_count_)};
  }
  // All that may have a ring: workers and their stand-ins.
  std::span<std::unique_ptr<Worker> const> queue_takers() const noexcept {
    return {seats_.data(), 2 * static_cast<std::size_t>(worker_count_)};
  }
  // Stand-ins and guests, as far as there have been any.
  std::span<std::unique_ptr<Worker> const> extras() const noexcept {
    auto const end = static_cast<std::size_t>(extras_end_.load(sync::acquire));
    return {seats_.data() + worker_count_, end - static_cast<std::size_t>(worker_count_)};
  }
  void raise_extras_end(int seat) noexcept;
  Worker* worker_here() const noexcept;  // who is pinned to the calling thread's cpu; null: nobody
  void sit(Worker& guest, Worker& beside) noexcept;
  void follow_guest(Worker& guest) noexcept;

  topology const& machine_;
  runtime_options const options_;
  policy::WorkerLayout const layout_;
  std::vector<Home> homes_;  // [queue group]
  // Workers, then a stand-in for each, then guests.
  std::vector<std::unique_ptr<Worker>> seats_;
  int worker_count_ = 0;
  std::mutex teams_lock_;  // for the two below
  std::optional<policy::TeamSeats> team_seats_;
  std::vector<std::pair<policy::TeamChoice, std::shared_ptr<policy::TeamPlan const>>> teams_;
  std::unique_ptr<trace::Recorder> recorder_;  // null: nobody records
  sync::atomic<int> extras_present_{0};        // stand-ins at work and guests
  sync::atomic<int> extras_end_{0};            // no seat from here on was ever taken
  std::optional<tasks::Parking> parking_;
  tasks::Quiescence quiescence_;
  tasks::SharedTaskCount outside_;
  sync::atomic<std::int64_t> pending_{0};     // kept only under options_.pending_limit
  sync::atomic<std::uint32_t> next_home_{0};  // for tasks from outside that may run anywhere
  sync::atomic<bool> stopping_{false};
  sync::atomic<bool> pinned_{true};
  std::unique_ptr<tasks::Arena> arena_;  // null: all workers may run, always
  tasks::Outside* const outside_tasks_;  // null: tasks come from this process only
  sync::atomic<std::uint32_t> next_robbed_{0};
  std::optional<std::latch> ready_;  // opens when every worker is set up
  std::mutex exception_lock_;
  std::exception_ptr exception_;  // the first one since the last wait(); under exception_lock_
  std::vector<platform::Thread> threads_;
  std::mutex stand_ins_lock_;                               // for starting them
  std::vector<std::optional<platform::Thread>> stand_ins_;  // [worker]
  unsigned const process_;                                  // count of forks before it was made
};

}  // namespace nigh::detail
