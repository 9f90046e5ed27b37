// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scheduler behind nigh::runtime: workers, one locality queue per domain that has workers, and
// the count that tells when all tasks have run. src/tasks/README.md explains it as a whole.

#include <cstdint>
#include <exception>
#include <latch>
#include <memory>
#include <mutex>
#include <nigh/runtime.hpp>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/atomic.hpp"
#include "tasks/locality_queue.hpp"
#include "tasks/parking.hpp"
#include "tasks/quiescence.hpp"
#include "tasks/worker.hpp"

namespace nigh::detail {

class scheduler {
 public:
  explicit scheduler(runtime_options const& options);
  ~scheduler();

  near resolved(near where) const;
  void submit(near where, task t);  // where: as resolved() gives it
  void wait();

  int workers() const noexcept { return static_cast<int>(workers_.size()); }
  topology const& machine() const noexcept { return machine_; }
  bool pinned() const noexcept { return pinned_.load(sync::relaxed); }
  std::vector<worker_counters> counters() const;
  void reset_counters() noexcept;

 private:
  using Queue = tasks::LocalityQueue<task>;
  using Worker = tasks::Worker;

  // What belongs to one domain that has workers.
  struct Home {
    int domain = 0;
    std::vector<int> workers;
    std::vector<int> others;       // other homes, nearest first
    std::unique_ptr<Queue> queue;  // made by its first worker, so that its memory is local
  };

  // scheduler.cpp: begin and end
  void lay_out(std::span<int const> cpus);
  void start_threads();
  void stop_threads() noexcept;
  void live(Worker& me) noexcept;
  void set_up(Worker& me);

  // loop.cpp: what workers do
  void work(Worker& me) noexcept;
  bool linger(Worker& me, task& t) noexcept;
  bool search(Worker& me, task& t) noexcept;
  bool find_at_home(Worker& me, task& t) noexcept;
  bool find_in_rings(int home, task& t) noexcept;
  bool find_abroad(int home, task& t) noexcept;
  bool work_in_sight(int home) const noexcept;
  void report_progress(Worker& me) noexcept;
  void run(task& t, Worker* me) noexcept;
  void keep_exception() noexcept;
  bool all_done() const noexcept;

  // submit.cpp: what spawners do
  Worker* this_worker() const noexcept;
  int home_for(int domain, Worker const* me) noexcept;
  void run_one_waiting(Worker* me) noexcept;

  bool may_run_abroad() const noexcept { return options_.mode == locality::prefer; }
  Home& home(int h) noexcept { return homes_[static_cast<std::size_t>(h)]; }
  Home const& home(int h) const noexcept { return homes_[static_cast<std::size_t>(h)]; }
  Worker& worker(int w) noexcept { return *workers_[static_cast<std::size_t>(w)]; }
  Worker const& worker(int w) const noexcept { return *workers_[static_cast<std::size_t>(w)]; }

  topology const& machine_;
  runtime_options const options_;
  std::vector<Home> homes_;
  std::vector<int> home_of_domain_;  // [domain]: nearest home
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<tasks::Parking> parking_;
  tasks::Quiescence quiescence_;
  tasks::SharedTaskCount outside_;
  sync::atomic<std::int64_t> pending_{0};     // kept only under options_.pending_limit
  sync::atomic<std::uint32_t> next_home_{0};  // for tasks from outside that may run anywhere
  sync::atomic<bool> stopping_{false};
  sync::atomic<bool> pinned_{true};
  std::optional<std::latch> ready_;  // opens when every worker is set up
  std::mutex exception_lock_;
  std::exception_ptr exception_;  // the first one since the last wait(); under exception_lock_
  std::vector<std::thread> threads_;
};

}  // namespace nigh::detail
