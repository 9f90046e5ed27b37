// SPDX-License-Identifier: Apache-2.0
#pragma once
// Worker: one thread of a runtime. It owns a task stack and, if it takes queued tasks, a local
// buffer, from which other threads take, too, and a mailbox, into which they put. They read or write
// the atomic words; all else is for the thread that has the slot. worker.cpp reads from the top: the
// loop, how a worker finds work, and sleeps where there is none, how it steals, runs and joins.
//
// A thread slot holds one of three kinds (policy::ThreadKind):
//   worker     a pinned thread, as long as the runtime lives
//   backup     a thread beside a worker, at work while that worker blocks or has little stack left
//   external   a thread of the program's own, as long as it uses the runtime

#include <cstdint>
#include <memory>
#include <nigh/detail/task_stack.hpp>
#include <nigh/runtime.hpp>

#include "base/race_detector.hpp"
#include "base/try_lock.hpp"
#include "policy/loops/lone_start.hpp"
#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/steal_order.hpp"
#include "policy/stealing/work_search.hpp"
#include "runtime/locality_queue.hpp"
#include "runtime/mailbox.hpp"
#include "runtime/quiescence.hpp"
#include "runtime/trace_sink.hpp"
#include "trace/counters.hpp"

namespace nigh::tasks {

struct Pool;

// For a chunk: the buffer is filled only when empty.
inline constexpr std::size_t local_buffer_capacity = policy::largest_chunk;

struct alignas(64) Worker {
  // `at_worker`: whose cpu, domain, group and victims it has at first; of a worker itself, of a
  // backup thread its worker. `beside` is set by who makes the slot.
  Worker(Pool& pool, int index, policy::ThreadKind kind, int at_worker);

  detail::task_stack stack;

  Pool& pool;
  int const index;  // of its thread slot
  policy::ThreadKind const kind;
  bool is_external() const noexcept { return kind == policy::ThreadKind::external; }
  bool is_worker() const noexcept { return kind == policy::ThreadKind::worker; }

  // For an external thread: where it was when it came, or was last seen.
  int cpu;
  int domain;
  int group;  // the one whose queue it serves

  // Tasks that it has taken from its group's queue in one visit and not begun. External threads
  // have no buffer.
  std::unique_ptr<LocalityQueue<detail::task>> buffer;
  TaskCount tasks;
  trace::WorkerCounters counters;
  TraceSink trace;

  // It steals from `beside` first, the worker that a backup or external thread sits next to; then
  // in the order of `victims`, a worker's own plan or that of `beside`.
  Worker* beside = nullptr;
  policy::VictimPlan const* victims = nullptr;
  sync::atomic<int> near_worker;  // itself, or `beside`: tells other threads how far it is
  std::uint32_t random_bits;
  policy::Waits waits;

  // With counts or cutoffs, stack.limit is the stack's beginning, so that every push takes the slow
  // path; this is where the stack really ends.
  detail::task_slot* room_ends = nullptr;
  std::uint32_t frames = 0;  // tasks and messages that the thread runs, one on top of another
  // Of the running task in its tree; kept under depth_cutoff only. The topmost bits are handed on to
  // what the task spawns (isolation.cpp): it is in an isolated region; it is
  // resident.
  static constexpr std::uint32_t isolated_bit = std::uint32_t{1} << 31;
  static constexpr std::uint32_t resident_bit = std::uint32_t{1} << 30;
  static constexpr std::uint32_t mark_bits = isolated_bit | resident_bit;
  std::uint32_t depth = 0;
  // The slots whose depth may have such a bit, though no task that has it is in them any more.
  detail::task_slot* marked_from = nullptr;
  detail::task_slot* marked_to = nullptr;
  policy::LoneStreak lone_loops;

  // For the slot of an external thread: has a thread taken it? How many have, and what clock counts
  // the cpu time of the one that has?
  base::TryLock taken;
  sync::atomic<std::int64_t> visits{0};
  sync::atomic<int> clock{0};
  bool displaces = false;  // it computes in the place of `beside`
  // For a slot whose thread is a worker of another pool, and has gone back to it from here: that
  // worker's stack and depth then.
  struct Home {
    detail::task_slot* top = nullptr;
    std::uint32_t depth = 0;
  };
  Home left_home_at;
  // For a worker: how many slots of external threads its thread has, of other pools. While it has
  // some, the worker runs nothing here. A guess, for others.
  sync::atomic<int> slots_elsewhere{0};
  bool is_elsewhere() const noexcept { return slots_elsewhere.load(sync::relaxed) > 0; }
  // For a backup thread: shall it work?
  enum Duty : std::uint32_t { off, on, ended };
  sync::atomic<std::uint32_t> duty{off};
  bool relieved = false;  // of a worker: its backup thread is at work

  // For a worker. A thread that sits in its place looks there, too.
  Mailbox mailbox;
  Mailbox& mailbox_here() noexcept { return beside != nullptr ? beside->mailbox : mailbox; }

  // Set when its program may not use its cpu (arena.hpp). The worker, and its backup thread, then
  // begins nothing more: it finishes what is on its stack, and stays away.
  enum Leave : std::uint32_t { stay, leave };
  sync::atomic<std::uint32_t> asked_to{stay};
  bool is_to_leave() const noexcept { return asked_to.load(sync::relaxed) == leave; }

  // For a worker: it looks for work at the bottom of its stack, and may be held off from it.
  bool is_between_jobs = false;
  bool displacer_is_blocked = false;
  std::int64_t displacers_progress = 0;  // when it last looked
  // An external thread computes in its place: it begins nothing. An external thread that does not
  // get on, because it blocks for an event that perhaps a task brings about, holds off nobody.
  bool is_held_off() noexcept;

  // ---- by the thread itself

  bool set_up_stack() noexcept;         // false: there is no memory
  void run_loop() noexcept;             // until the runtime ends
  void run_until_dismissed() noexcept;  // a backup thread: until its worker is back

  // Whether no more than so many times the stack is left that helping takes.
  bool is_stack_short(std::size_t times) const noexcept;
  // Of tasks that each make the next one: two threads that take them from each other in turn go one
  // deeper each time, and where no slot is free, each runs at once.
  static constexpr std::size_t for_chains = 4;

  bool is_isolated() const noexcept { return (depth & isolated_bit) != 0; }
  bool is_resident() const noexcept { return (depth & resident_bit) != 0; }
  std::uint32_t marks() const noexcept { return depth & mark_bits; }
  // The depth of the task that it runs from now on. Returns the one before, for the task's end.
  std::uint32_t set_depth(std::uint32_t to) noexcept;
  void mark(detail::task_slot& slot) noexcept;  // its depth has one of the bits
  void clear_marks() noexcept;                  // of slots above the top

  void share() noexcept;  // publishes some of its tasks, and makes sure that a thief comes
  void share_all() noexcept;
  void begin_changing() noexcept;  // of its stack, when nobody helps there any more
  bool may_fork() noexcept;        // checks room and cutoffs; counts either way

  bool run_top() noexcept;     // runs the topmost task, unless it has been stolen
  void finish_top() noexcept;  // runs it, or waits for its thief
  void finish_down_to(detail::task_slot* top) noexcept;
  void await_zero(sync::atomic<std::uint32_t> const& word) noexcept;  // helps others until it is 0
  // The same for MailboxMessage::out, which others are about to bring to 0.
  void await_receivers(sync::atomic<std::uint32_t> const& out) noexcept;
  std::uint32_t steal_once() noexcept;  // and runs what it got; returns how many tasks
  bool find_in_own_queue(detail::task& t) noexcept;
  // Whether a task from outside may run here now, on top of the one that this thread is in: not in an
  // isolated region, nor with little stack left.
  bool may_nest() const noexcept;
  void nest(detail::task& t) noexcept;  // runs it
  void report_progress() noexcept;

  // ---- by any thread

  // The event that it waits for has come; the caller has stored it, seq_cst. An external thread
  // sleeps uncounted; its group may be changing, and is not read.
  void wake() const noexcept;
  // A thief takes tasks from this thread's stack, as by task_stack::take(). Where it finds none, it
  // asks this thread to share some. False: it has got none.
  template <class HowMany>
  bool take_tasks(std::uint32_t thief, detail::task_stack::range& got,
                  HowMany const& how_many) noexcept {
    auto const what = stack.take(thief, got, how_many);
    if (what == detail::steal::empty) stack.ask();
    if (what != detail::steal::taken) return false;
    base::announce_acquire(&stack.shared);  // (stack.C)
    return true;
  }
  // A task of this thread's stack has been run by the caller or its process; wakes this thread.
  void finish_stolen(detail::task_slot& slot) const noexcept {
    base::announce_release(&slot.state);  // (stack.E)
    slot.finish();
    wake();
  }
  // Runs the task in somebody else's slot, finishes the slot and wakes its owner.
  static void run_stolen_slot(Worker& victim, detail::task_slot& slot) noexcept;

 private:
  struct Job;

  template <class Until>
  void work_until(Until until) noexcept;
  template <class Until>
  void help_until(Until until) noexcept;
  template <class Until>
  bool search(Job& job, Until until) noexcept;
  template <class Until>
  void stay_away(Until until) noexcept;
  bool linger(Job& job) noexcept;

  bool find_work(policy::SearchOrder const& order, Worker* thief, Job& job) noexcept;
  bool look_at(policy::Source source, Worker* thief, Job& job) noexcept;
  bool find_imported(detail::task& t) noexcept;
  bool ask_all_stacks(Job& job) noexcept;
  bool steal_from(Worker& victim, level where, Job& job) noexcept;
  bool take_own_shared(Job& job) noexcept;
  level level_to(Worker const& victim) const noexcept;

  void run(Job& job) noexcept;
  void run_stolen(Job const& job) noexcept;
  static void run_proxy(detail::task_slot& proxy, detail::task_stack* popping) noexcept;
  template <class HowMany>
  void publish(HowMany how_many) noexcept;  // so many of its private tasks
  bool share_for_others() noexcept;         // whose threads do not; were there any?
};

// While one lives, the calling thread runs a stolen or queued task, or a message. Frames lie one on
// top of another where a thread runs other tasks while it waits.
class TaskFrame {
 public:
  // For a queued task: the domain it was put near, and how much it touches, for the trace.
  explicit TaskFrame(int domain = -1, std::uint64_t bytes = 0) noexcept
      : stack_(*detail::this_stack), base_(stack_.top), outer_base_(stack_.base) {
    if (&stack_ == &detail::no_stack) return;
    stack_.base = base_;
    ++stack_.worker->frames;
    stack_.worker->trace.task_begin(domain, bytes);
  }
  // A task is done when all tasks that it spawned are.
  ~TaskFrame() {
    detail::finish_down_to(stack_, base_);
    if (&stack_ == &detail::no_stack) return;
    stack_.base = outer_base_;
    --stack_.worker->frames;
    stack_.worker->trace.task_end();
  }
  TaskFrame(TaskFrame&&) = delete;
  TaskFrame& operator=(TaskFrame&&) = delete;

 private:
  detail::task_stack& stack_;
  detail::task_slot* const base_;
  detail::task_slot* const outer_base_;
};

// Runs a queued task: by `me`, or, null, in a thread that is no worker of the pool.
void run_queued(Pool& pool, detail::task& t, Worker* me) noexcept;

}  // namespace nigh::tasks
