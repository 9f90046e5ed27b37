// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pool: the state that the threads of one runtime share. README.md explains the whole.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <nigh/runtime.hpp>
#include <vector>

#include "base/atomic.hpp"
#include "policy/stealing/worker_layout.hpp"
#include "runtime/arena.hpp"
#include "runtime/locality_queue.hpp"
#include "runtime/loop_host.hpp"
#include "runtime/parking.hpp"
#include "runtime/quiescence.hpp"
#include "runtime/thread_table.hpp"
#include "runtime/work_source.hpp"
#include "runtime/worker.hpp"

namespace nigh::tasks {

// With less than this left of its thread's stack, a worker that waits in a join leaves helping to
// its backup thread: a task that it helps with runs on top of the one that waits.
inline constexpr std::size_t most_stack_needed_to_help = 256 * 1024;

// The first exception of a queued task since the last call of wait().
class FirstFailure {
 public:
  void keep() noexcept {  // the exception being handled
    std::lock_guard const guard(lock_);
    if (!first_) first_ = std::current_exception();
  }
  std::exception_ptr take() noexcept {
    std::lock_guard const guard(lock_);
    return std::exchange(first_, nullptr);
  }

 private:
  std::mutex lock_;
  std::exception_ptr first_;
};

class Scheduler;

struct Pool {
  using Queue = LocalityQueue<detail::task>;

  // A queue group at work (policy/stealing/worker_layout.hpp).
  struct Group {
    std::vector<int> threads;      // its workers, then their backup threads: all have a buffer
    std::unique_ptr<Queue> queue;  // made by its first worker, so that its memory is local
  };

  Pool(Scheduler& scheduler_, topology const& machine_, runtime_options options_,
       std::vector<int> const& cpus, WorkSource& source_);
  ~Pool();
  Pool(Pool&&) = delete;
  Pool& operator=(Pool&&) = delete;

  Group& group(int g) noexcept { return groups[static_cast<std::size_t>(g)]; }
  Group const& group(int g) const noexcept { return groups[static_cast<std::size_t>(g)]; }
  bool limits_forks() const noexcept {
    return options.count_tasks || options.depth_cutoff > 0 || options.queue_cutoff > 0;
  }
  std::size_t stack_needed_to_help() const noexcept {
    return std::min(most_stack_needed_to_help, options.thread_stack_bytes / 4);
  }
  bool is_inherited() const noexcept;  // this is a child of the process that made the pool

  // A task that a thread of this group has taken from the queue and not begun.
  bool find_in_buffers(int of_group, detail::task& t) noexcept;
  // A task of another group in reach: from its queue, or from its threads' buffers.
  bool find_in_other_groups(int of_group, detail::task& t) noexcept;
  // A task of this group or, in reach, of another, also where workers have left it.
  bool find_for_external(int of_group, detail::task& t) noexcept;
  bool is_anything_queued() const noexcept;
  // Is there a task that a worker of this group may take? For threads about to sleep, see Parking.
  bool work_in_sight(int for_group) const noexcept;
  // Has a thread been asked to share tasks, and has not come by, so that others may do so in its
  // place? Only a guess.
  bool has_unshared_tasks() const noexcept;
  bool is_work_left(int for_group) const noexcept {
    return work_in_sight(for_group) || has_unshared_tasks();
  }
  bool all_done() const noexcept;  // all queued tasks have run

  Scheduler& scheduler;  // whose pool this is
  topology const& machine;
  runtime_options const options;
  policy::WorkerLayout const layout;
  WorkSource& source;
  bool const gives_tasks;  // to the source
  unsigned const forks_before;  // count_forks() when it was made
  ThreadTable threads;
  std::vector<Group> groups;
  Parking parking;
  std::unique_ptr<Arena> arena;
  LoopHost loop_host;

  Quiescence quiescence;
  SharedTaskCount tasks_of_others;  // queued tasks spawned or run by other threads
  sync::atomic<std::int64_t> pending{0};  // kept only under options.pending_limit
  FirstFailure failure;
  sync::atomic<bool> stopping{false};
  // Nobody does where the kernel refuses a fence, or a race detector listens.
  sync::atomic<bool> may_share_for_others{true};
  sync::atomic<bool> pinned{true};

 private:
  void admit(LeasedArena::Members const& members) noexcept;
};

}  // namespace nigh::tasks
