// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scheduler: makes the runtime behind nigh::runtime, gives it queued tasks, waits for these, and
// ends it. Its threads (worker.hpp) share the pool (pool.hpp).

#include <latch>
#include <memory>
#include <nigh/runtime.hpp>
#include <optional>
#include <vector>

#include "runtime/pool.hpp"
#include "trace/recorder.hpp"

namespace nigh {
namespace tasks {

class Scheduler {
 public:
  explicit Scheduler(runtime_options const& options, WorkSource& source = no_work_source());
  ~Scheduler();
  // One of its tasks calls this, or another thread is in its scopes or invoke().
  bool is_in_use() noexcept;
  Scheduler(Scheduler&&) = delete;
  Scheduler& operator=(Scheduler&&) = delete;

  Pool& pool() noexcept { return pool_; }
  ExternalThief& external_thief() noexcept { return external_thief_; }

  near resolved(near where) const;
  void submit(near where, detail::task t);  // where: after resolved()
  // The same for a task that the caller will wait for: with little stack left, it runs right here.
  void submit_or_run(near where, detail::task t);
  void wait();
  // std::logic_error, which names the caller, inside of a task.
  void check_may_wait(char const* caller) const;

  std::vector<worker_counters> counters() const;
  worker_counters external_counters() const;
  void reset_counters() noexcept;

 private:
  void start_recording();
  void start_threads();
  void stop_threads() noexcept;
  void live(Worker& me) noexcept;
  void check_process() const;
  // The calling thread, if it is a worker or backup thread of this pool; null otherwise.
  Worker* my_worker() const noexcept;
  int group_for(near where, Worker const* me) noexcept;
  void submit(near where, detail::task& t, bool runs_here);
  void run_one_waiting(Worker* me) noexcept;

  Pool pool_;
  ExternalThief external_thief_{pool_};
  std::unique_ptr<trace::Recorder>
      recorder_;  // null: nothing is recorded. It reads the pool when it ends
  std::optional<std::latch> ready_;  // opens when every worker is set up
  sync::atomic<std::uint32_t> next_group_{0};  // deals out tasks that several groups may have
};

}  // namespace tasks

// For layers above this one: the scheduler of a runtime.
struct detail::runtime_access {
  static tasks::Scheduler& scheduler(runtime const& of) noexcept { return *of.scheduler_; }
  static runtime made(runtime_options options, tasks::WorkSource& source) {
    return runtime(std::move(options), source);
  }
};

}  // namespace nigh
