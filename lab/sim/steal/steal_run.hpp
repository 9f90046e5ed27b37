// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tasks and thieves: a forest of tasks run by work stealing on a machine, in virtual time.
//
//   running ──no private task──▶ taking back ──none shared──▶ probing ◀──in vain── resting
//      ▲                             │                          │ there is something
//      └─────────────────────────────┴◀─ unlocking ◀─ copying ◀─ locking (waits its turn)
//
// A worker runs its newest private task; when that ends its children are there, and the oldest
// private tasks become shared until `shared_part` of all are. Without private tasks it takes back
// the newest half of its shared ones; without any it asks others: whom, policy::victim says, how
// many it takes, policy::chunk_to_steal, of how many at least, policy::least_to_steal, and how long
// it rests, policy::search_pause_ns.
//
// With bounded queues a task spawns one child after the other, and policy::forks says for each
// whether it is queued or run at once, in its parent; a task goes on when its newest descendants
// in the worker's private part have run.
//
// Left out: what a task's result costs on its way to who waits for it, and the counter by which
// the submitter knows that a phase has ended.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <nigh/result.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/idle.hpp"
#include "policy/stealing/steal_order.hpp"
#include "sim/event_queue.hpp"
#include "sim/machine.hpp"
#include "sim/random.hpp"
#include "sim/steal/task_forest.hpp"
#include "sim/time.hpp"

namespace nigh::sim {

// A machine as thieves see it: who is how near, and what asking there costs.

// There and back where it says so; a lock is granted, and free again, after one way.
struct RungCosts {
  std::string name;
  Time probe = 0;
  Time lock = 0;
  Time copy = 0;
  Time unlock = 0;
  double ns_per_byte = 0;
  bool crosses_hosts = false;  // and so keeps both interfaces busy

  Time copy_of(double bytes) const noexcept {
    return copy + static_cast<Time>(std::llround(bytes * ns_per_byte));
  }
  // From the probe on, when nobody is in the way.
  Time steal_of(double bytes) const noexcept { return probe + lock + copy_of(bytes) + unlock; }
};

struct StealMachine {
  policy::RegularPlan plan;
  std::vector<RungCosts> rungs;  // [rung of the plan]
  int per_host = 1;              // workers
  Time interface_ns = 0;
  std::optional<Time> spawn_ns{};  // of a task; none: what its program says

  int workers() const noexcept { return plan.workers; }
  int hosts() const noexcept { return (workers() + per_host - 1) / per_host; }
  // The cost for an owner to lock its own queue: nothing travels.
  Time own_lock_ns() const noexcept {
    return rungs.empty() ? 0 : (rungs.front().lock + rungs.front().unlock) / 2;
  }
};

// One worker a cpu: on all of the machine, or on as few whole groups as hold `workers`.
result<StealMachine> steal_machine(Machine const& machine, int workers = 0);

// One worker's tasks, as HotSLAW keeps them: the oldest are shared, the newest private.
//
//   [begin, split)  shared: thieves take the oldest, under a lock
//   [split, end)    private: the owner pushes and pops the newest
//
// A million workers have one each, most of them empty at any time: no memory before the first task.

class SplitQueue {
 public:
  std::uint32_t shared() const noexcept { return split_ - begin_; }
  std::uint32_t owned() const noexcept { return end_ - split_; }
  std::uint32_t size() const noexcept { return end_ - begin_; }

  void push(TaskId task) {
    if (end_ == capacity_) make_room(1);
    tasks_[end_++] = task;
  }
  TaskId newest() const noexcept { return tasks_[end_ - 1]; }
  TaskId pop() noexcept {
    NIGH_DEBUG_ASSERT(owned() > 0, "there is a private task");
    auto const task = tasks_[--end_];
    if (begin_ == end_) begin_ = split_ = end_ = 0;
    return task;
  }

  // The oldest private tasks become shared, until these are so many.
  void share(std::uint32_t wanted) noexcept {
    if (shared() < wanted) split_ = begin_ + wanted;
  }
  // The newest shared tasks become private again.
  void take_back(std::uint32_t tasks) noexcept { split_ -= tasks; }

  // The oldest shared ones, in their order, to a thief whose queue is empty, as private ones.
  void give(std::uint32_t tasks, SplitQueue& thief) {
    NIGH_DEBUG_ASSERT(tasks <= shared() && thief.size() == 0, "there are so many, and room");
    if (tasks == 0) return;
    thief.begin_ = thief.split_ = thief.end_ = 0;
    if (thief.capacity_ < tasks) thief.make_room(tasks);
    std::memcpy(thief.tasks_.get(), tasks_.get() + begin_, tasks * sizeof(TaskId));
    thief.end_ = tasks;
    begin_ += tasks;
  }

 private:
  // Moved down first, when much of the room is that of tasks that are gone.
  void make_room(std::uint32_t more) {
    auto const n = size();
    if (begin_ > capacity_ / 2 && n + more <= capacity_) {
      std::memmove(tasks_.get(), tasks_.get() + begin_, n * sizeof(TaskId));
    } else {
      auto capacity = capacity_ == 0 ? 8 : capacity_;
      while (capacity < n + more) capacity *= 2;
      if (capacity == capacity_) capacity *= 2;
      auto larger = std::make_unique_for_overwrite<TaskId[]>(capacity);
      if (n > 0) std::memcpy(larger.get(), tasks_.get() + begin_, n * sizeof(TaskId));
      tasks_ = std::move(larger);
      capacity_ = capacity;
    }
    split_ -= begin_;
    end_ = n;
    begin_ = 0;
  }

  std::unique_ptr<TaskId[]> tasks_;
  std::uint32_t capacity_ = 0;
  std::uint32_t begin_ = 0, split_ = 0, end_ = 0;
};

struct StealRules {
  policy::VictimChoice victims = policy::VictimChoice::hierarchical;
  policy::ChunkChoice chunks = policy::ChunkChoice::hierarchical;
  std::size_t fixed = 1;     // tasks, where the choice is a fixed number
  double shared_part = 0.5;  // of a worker's tasks: HotSLAW's rule, not nigh's
  policy::SearchPause pause = {};
  int queue_cutoff = 0;       // tasks that wait in a worker's queue when it is full; 0: it never is
  bool whole_chunks = false;  // of a fixed number; where fewer are shared, none is taken
};

// A worker that is never heard of again, and what becomes of a program then.
struct Halt {
  int worker = -1;
  Time at = 0;
};

struct StealOutcome {
  Time makespan = 0;
  std::uint64_t tasks = 0;
  std::uint64_t run_inline = 0;  // of them, in their parents
  std::uint64_t events = 0;
  std::uint64_t probes = 0;
  std::uint64_t steals = 0;              // visits that brought something
  std::uint64_t stolen = 0;              // tasks they brought
  std::vector<std::uint64_t> steals_at;  // [rung]

  double seconds_of_all() const noexcept { return seconds(makespan); }
  bool operator==(StealOutcome const&) const = default;
};

class StealRun {
 public:
  StealRun(TaskForest const& forest, StealMachine const& machine, StealRules const& rules,
           std::uint64_t seed, Halt halt = {});

  // The error, when nothing can go on, tells what every worker does.
  result<StealOutcome> run();

 private:
  enum class Doing : std::uint8_t {
    nothing,
    submitting,
    running,
    probing,
    locking,
    waiting,
    copying,
    unlocking,
    taking_back,
    resting,
    halted
  };
  enum Step : std::uint32_t {
    submitted,
    ran,
    probed,
    lock_asked,
    lock_granted,
    copied,
    unlocked,
    visited,
    taken_back,
    rested,
    halts
  };
  static constexpr std::uint32_t nobody = 0xffffffff;

  // Begun, and not left: its children from `next` on are not there yet.
  struct OpenTask {
    TaskId task = 0, next = 0, end = 0;
  };

  struct Worker {  // a cache line
    alignas(64) SplitQueue queue;
    TaskId task = 0;
    std::uint32_t phases_begun = 0;  // of those that each worker submits its part of
    std::uint32_t victim = 0;
    // Thieves that wait for this one's lock, a list in order of their coming.
    std::uint32_t first_waiting = nobody, last_waiting = nobody;
    std::uint32_t next_waiting = nobody;  // behind this one, in the list that it waits in
    std::int32_t attempt = 0;
    std::int32_t failed_rounds = 0;
    std::uint8_t rung = 0;
    Doing doing = Doing::nothing;
    bool locked = false;
  };

  void happen(Event const& event);
  void fetch_early() const noexcept;
  void post(Time at, std::uint32_t worker, Step step) { events_.post(at, worker, step); }
  void submit_phase(std::uint32_t w);
  void submit_part(std::uint32_t w);
  void begin(std::uint32_t w, TaskId task, Time spawn_ns);
  void end_task(std::uint32_t w);
  bool is_bounded() const noexcept { return rules_.queue_cutoff > 0; }
  bool in_parts() const noexcept { return is_bounded() && forest_.any_submits; }
  void proceed(std::uint32_t w);
  bool has_newer(Worker const& worker, TaskId task, TaskId end) const noexcept;
  void share(Worker& worker) noexcept;
  void go_on(std::uint32_t w);
  void search(std::uint32_t w);
  void probe_ended(std::uint32_t w);
  void in_vain(std::uint32_t w);
  void ask_lock(std::uint32_t thief, std::uint32_t victim);
  std::size_t least_from(Worker const& thief) const noexcept;
  void grant(std::uint32_t thief);
  void release(std::uint32_t victim);
  void copy(std::uint32_t thief);
  Time begin_operation(std::uint32_t thief);
  RungCosts const& costs(Worker const& thief) const { return machine_.rungs[thief.rung]; }
  bool all_done() const noexcept { return open_ == 0 && phase_ == forest_.phases.size(); }
  static bool is_busy(Worker const& worker) noexcept;
  bool is_stuck() const noexcept;
  std::string states() const;
  static char const* name_of(Doing doing) noexcept;

  TaskForest const& forest_;
  StealMachine const& machine_;
  StealRules rules_;
  Time spawn_ns_;
  Random random_;
  Halt halt_;
  EventQueue events_;
  std::vector<Worker> workers_;
  std::vector<std::vector<OpenTask>> open_tasks_;  // [worker], each inside the one before
  std::vector<Time> interface_free_;               // [host], from when on
  std::size_t phase_ = 0;                          // the next one
  std::uint64_t open_ = 0;                         // tasks that have not ended
  std::uint64_t busy_ = 0;           // workers that run one, or are on their way with some
  std::uint64_t futile_rounds_ = 0;  // since a task was begun
  StealOutcome outcome_;
};

}  // namespace nigh::sim
