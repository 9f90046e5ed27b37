// SPDX-License-Identifier: Apache-2.0
#pragma once
// WorkSource: tasks of other processes, as a runtime sees them. src/cluster brings them over MPI;
// tests follow a script. ExternalThief is what such a source does to the runtime.
//
// An imported task is a queued task: a worker without work finds it. An exported task is stolen by
// a thief that has no thread slot; its task slot stays with its owner, `away`, until the task is
// finished.
//
// No worker sleeps while find() has something: the thread that puts it there stores what in_sight()
// loads, seq_cst, and then calls ExternalThief::call_workers(). That is (parking.S), with these two
// in place of push() and notify().

#include <functional>
#include <nigh/runtime.hpp>

#include "base/atomic.hpp"

namespace nigh::tasks {

struct Pool;
struct Worker;

class WorkSource {
 public:
  virtual ~WorkSource() = default;

  // Called by a worker that has found nothing on its own rank. True: it is to run `t`.
  virtual bool find(detail::task& t) noexcept = 0;
  // Would find() give a worker a task? For threads about to sleep.
  virtual bool in_sight() const noexcept = 0;
  // A thread that looked for work goes to sleep. A worker calls find() no more; an external thread
  // never did.
  virtual void misses_one() noexcept {}
  // Does it take tasks of this runtime, so that even a single worker has to share some?
  virtual bool takes_tasks() const noexcept { return true; }
};

// For a runtime whose tasks come from its own process only.
WorkSource& no_work_source() noexcept;

class ExternalThief {
 public:
  explicit ExternalThief(Pool& pool) noexcept : pool_(pool) {}

  struct Taken {
    Worker* victim = nullptr;
    detail::task_stack::range tasks;
  };
  using HowMany = std::function<std::size_t(std::size_t waiting)>;

  // Takes the oldest tasks of some stack, as many as how_many(shared) says; the caller makes sure
  // that each is finished. False when no stack shares any; then all are asked to.
  bool take(Taken& taken, HowMany const& how_many) noexcept;
  // A task of the program's own threads, or of a detached task, stays in the process.
  static bool is_resident(detail::task_slot const& taken) noexcept;
  static bool is_isolated(detail::task_slot const& taken) noexcept;  // of such a region
  // A queued task that runs a task that was taken and cannot leave the process after all. The
  // caller has a worker find it.
  static detail::task task_for_here(Worker& victim, detail::task_slot& slot) noexcept;
  void finish(Worker& victim, detail::task_slot& slot) noexcept;  // its results have been written
  bool has_idle_workers() const noexcept;  // awake or asleep, while no task is shared
  void call_workers() noexcept;  // find() has something for them from now on

 private:
  Pool& pool_;
  sync::atomic<std::uint32_t> next_victim_{0};
};

}  // namespace nigh::tasks
