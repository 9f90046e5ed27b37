// SPDX-License-Identifier: Apache-2.0
#pragma once
// The C interface's task queue: it has counts of its own, and keeps its tasks on the task stacks of
// a runtime's threads.

#include <nigh/nigh.h>

#include <array>
#include <memory>
#include <nigh/detail/task_stack.hpp>
#include <vector>

#include "runtime/current_thread.hpp"
#include "runtime/put_count.hpp"
#include "runtime/scheduler.hpp"

struct nigh_task_queue {
  using Scheduler = nigh::tasks::Scheduler;

  // A machine and workers of its own, or none.
  std::unique_ptr<nigh::topology> machine;
  std::unique_ptr<Scheduler> own;
  Scheduler& host;
  std::vector<nigh::tasks::PutCount> counts;  // [thread slot]
  nigh::tasks::SharedPutCount elsewhere;
  // Slots of its own runtime that threads hold.
  // (task_queue.L) A thread that frees the queue does so after the last touch of every thread
  // that held one: each step down releases, the freeing thread's load acquires.
  nigh::sync::atomic<int> slots_held{0};

  explicit nigh_task_queue(Scheduler& shared);
  nigh_task_queue(std::unique_ptr<nigh::topology> its_machine,
                  nigh::runtime_options const& options);

  nigh::tasks::PutCount& counts_of(nigh::tasks::Worker const& w) noexcept {
    return counts[static_cast<std::size_t>(w.index)];
  }
  std::uint64_t finished_so_far() const noexcept;
  std::uint64_t put_so_far() const noexcept;
  bool empty() const noexcept {
    auto const done = finished_so_far();  // first: (put_count.Q)
    return done == put_so_far();
  }
};

namespace nigh::tasks {

// The calling thread, if it is one of the runtime's or works on a slot of it.
inline Worker* worker_of(nigh_task_queue const& queue) noexcept {
  auto* const worker = detail::this_stack->worker;
  return worker != nullptr && &worker->pool == &queue.host.pool() ? worker : nullptr;
}

// The thread slots that the calling thread has taken, to put tasks from C, in runtimes that it is
// no worker of. It keeps such a slot until it has waited for the tasks.
class Visits {
 public:
  ~Visits();  // a thread that ends waits for what it has put

  // The visit of the running task, or of the thread outside of tasks; null: none.
  Worker* find(Pool const& pool) noexcept;
  // The same; takes a slot if there is none. Null: all slots, or all of our visits, are taken.
  Worker* find_or_open(nigh_task_queue& queue) noexcept;
  void close(Worker const& slot) noexcept;  // all its tasks have been joined

 private:
  // The task that a visit belongs to. A task must not wait for the tasks of another one that it
  // happens to run on top of: the other one may be waiting for it.
  struct Owner {
    detail::task_stack const* stack = nullptr;
    detail::task_slot const* base = nullptr;
    unsigned strangers_below = 0;
    bool operator==(Owner const&) const = default;
  };
  struct Visit {
    Worker* slot = nullptr;
    Owner who;
    nigh_task_queue* queue = nullptr;
  };
  Owner me() const noexcept {
    return {detail::this_stack, detail::this_stack->base, strangers_below};
  }
  void forget_those_of_the_parent() noexcept;

  std::array<Visit, 16> open_;
  unsigned forks_before_ = 0;  // count_forks() when we last looked
};

extern thread_local Visits visits;

// While one lives, the calling thread works on a slot that it has taken.
class AtSlot {
 public:
  explicit AtSlot(Worker& slot) noexcept : before_(detail::this_stack) {
    detail::this_stack = &slot.stack;
  }
  ~AtSlot() { detail::this_stack = before_; }
  AtSlot(AtSlot&&) = delete;
  AtSlot& operator=(AtSlot&&) = delete;

 private:
  detail::task_stack* const before_;
};

// A function with its argument.
struct Call {
  nigh_function f;
  void const* in;
  std::size_t in_bytes;
  void* out;
};

// The calls of nigh.h, after their arguments have been checked.
void put(nigh_task_queue& queue, Call const& call) noexcept;
void wait(nigh_task_queue& queue) noexcept;
bool execute(nigh_task_queue& queue) noexcept;
std::uint32_t steal(nigh_task_queue& queue) noexcept;
void run(nigh_task_queue& queue, Call const& call);

}  // namespace nigh::tasks
