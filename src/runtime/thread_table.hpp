// SPDX-License-Identifier: Apache-2.0
#pragma once
// The threads of a runtime, each in a thread slot: workers, a backup thread for each worker, and
// external threads. This file says who takes a slot, leaves it, and moves to another cpu with it.
//
//      0 .. n-1    n .. 2n-1         2n .. 2n+63
//      workers     backup threads    external threads
//
// Before its stack shares a task, a slot is announced: first end_ is raised, then extras_present_.
// By (parking.S), a worker about to sleep that reads extras_present_ as 0 is seen by the slot's
// notify(). A worker that reads more looks at that stack: it acquires end_ afterwards. When a
// thread leaves its slot, its stack shares nothing, so a worker that counts it no more misses
// nothing.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "platform/thread.hpp"
#include "runtime/worker.hpp"

namespace nigh::tasks {

class ThreadTable {
 public:
  using Slots = std::span<std::unique_ptr<Worker> const>;

  explicit ThreadTable(Pool& pool);
  ~ThreadTable();
  ThreadTable(ThreadTable&&) = delete;
  ThreadTable& operator=(ThreadTable&&) = delete;

  std::size_t size() const noexcept { return slots_.size(); }
  Worker& operator[](std::size_t slot) noexcept { return *slots_[slot]; }
  Worker& at_slot(int slot) const noexcept { return *slots_[static_cast<std::size_t>(slot)]; }
  Worker& backup_of(Worker const& worker) const noexcept { return *slots_[workers_ + at(worker)]; }

  Slots all() const noexcept { return slots_; }
  Slots workers() const noexcept { return all().first(workers_); }
  Slots queue_takers() const noexcept {
    return all().first(2 * workers_);
  }  // all that have a buffer
  Slots externals() const noexcept { return all().subspan(2 * workers_); }
  // Slots of backup and external threads, up to the last one ever used.
  Slots extras() const noexcept { return all().subspan(workers_, slots_used() - workers_); }
  bool extras_present() const noexcept { return extras_present_.load(sync::relaxed) > 0; }
  bool surely_extras_present() const noexcept {      // for threads about to sleep
    return extras_present_.load(sync::seq_cst) > 0;  // (parking.S)
  }
  std::uint32_t slots_used() const noexcept { return end_.load(sync::acquire); }  // (parking.S)

  // ---- workers; both are called by the thread that makes the runtime
  // Each thread runs `life`. False: the system refused a thread, and `error` says why; the threads
  // that did start run.
  bool start_workers(std::function<void(Worker&)> const& life, std::string& error);
  std::size_t started() const noexcept { return threads_.size(); }
  void end_threads() noexcept;  // once they have been told to end: waits for all

  // ---- external threads
  Worker* take_external() noexcept;  // null: all slots are taken
  void leave_external(Worker& me) noexcept;
  // While an external thread computes, one worker does not: the one beside which it sits, on its
  // own cpu, or on the nearest whose place no other external thread has. So a runtime and its
  // callers together compute on no more cpus than it has workers, as long as these are more than
  // callers.
  void displace_neighbour(Worker& external) noexcept;
  void put_back_neighbour(Worker& external) noexcept;
  // Changes as long as one of the threads that displace this worker computes, or others take turns.
  std::int64_t progress_of_displacers(Worker const& worker) const noexcept;
  bool displacers_sleep(Worker const& worker) const noexcept;
  // The runtime does not pin an external thread. When the thread is found on another group's cpu,
  // its slot moves there, too.
  void follow(Worker& me) noexcept {
    if (me.is_external() && follows_) move_to_here(me);
  }

  // ---- backup threads
  // The worker's backup thread works on its cpu from now until dismiss_backup(). False: the caller
  // is no worker, or its backup thread is at work already, or the system refuses a thread.
  bool start_backup(Worker& worker) noexcept;
  void dismiss_backup(Worker& worker) noexcept;

 private:
  static std::size_t at(Worker const& w) noexcept { return static_cast<std::size_t>(w.index); }
  void raise_end(Worker const& slot) noexcept;  // behind that slot
  Worker* worker_at_this_cpu() const noexcept;  // where the calling thread is now; null: none
  void sit(Worker& external, Worker& here) noexcept;
  Worker& place_near(Worker& here) noexcept;
  void put_back(Worker const& worker) noexcept;
  template <class F>
  void each_displacer(Worker const& worker, F const& f) const noexcept;
  void move_to_here(Worker& external) noexcept;
  void back_up(Worker& me) noexcept;  // a backup thread's life

  Pool& pool_;
  std::size_t const workers_;
  bool const follows_;  // there is more than one domain
  std::vector<std::unique_ptr<Worker>> slots_;
  sync::atomic<int> extras_present_{0};  // backup threads at work, and external threads
  sync::atomic<std::uint32_t> end_;      // no slot from here on was ever taken
  std::vector<platform::Thread> threads_;
  std::mutex backups_lock_;                               // for starting them
  std::vector<std::optional<platform::Thread>> backups_;  // [worker]
};

}  // namespace nigh::tasks
