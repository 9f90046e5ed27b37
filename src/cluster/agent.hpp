// SPDX-License-Identifier: Apache-2.0
#pragma once
// A rank: owns the engine, the network and the workers of this process, and decides which thread
// looks for messages at what time.
//
//   workers ──find()──▶ Agent ──poll()──▶ Engine ◀──▶ network
//      │                                    │
//      └───────────── TaskExchange ─────────┘
//
// Three kinds of threads poll: an idle worker in its search; a worker that ends a cluster task, if
// no thread has polled for 15 us or a rank of the host waits; the thread in run(), if no other
// thread has lately. One polls at a time, under lock_. Only mpi_section waits for that lock; any
// other thread that finds it taken goes on. Its messages wait in the outbox, which the next poll
// empties.
//
// Between runs nothing is received, and nothing sent but what a supervised rank has kept, and the
// messages by which it says that it is there. After the loss of a rank, tasks may remain for whose
// results nobody waits: the tasks that they spawn stay here, and their results are dropped where they
// arrive.

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <nigh/cluster.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/atomic.hpp"
#include "base/published.hpp"
#include "cluster/beats.hpp"
#include "cluster/engine.hpp"
#include "cluster/layout.hpp"
#include "cluster/lookout.hpp"
#include "cluster/task_exchange.hpp"
#include "cluster/watch/watch.hpp"
#include "runtime/lock.hpp"
#include "runtime/scheduler.hpp"
#include "runtime/work_source.hpp"

namespace nigh::cluster {

class Agent final : public nigh::tasks::WorkSource {
 public:
  // Collective.
  Agent(std::unique_ptr<Transport> network, Settings const& settings);
  ~Agent() override;

  bool is_of_this_process() const noexcept;
  int rank() const noexcept { return layout_.self; }
  int ranks() const noexcept { return static_cast<int>(layout_.places.size()); }
  nigh::runtime& workers() noexcept { return workers_; }
  rank_counters counters();
  void resize(int ranks);
  std::vector<int> working();

  bytes run(detail::function const& f, bytes input);
  bool place(int rank, detail::placed const& task, byte_view input);
  // Returns when the call has ended. Of a worker's task.
  void checkpoint(CheckpointCall& call);
  TaskExchange& tasks() noexcept { return tasks_; }

  // A worker has ended a task.
  void between_tasks(std::int64_t now_ns) noexcept;
  // While a thread is in a section, it alone may call MPI. Sections nest.
  // Of this thread; nothing where there is no session.
  static void begin_section();
  static void end_section();
  // The session is over for threads that begin a section; returns when none is in one.
  static void leave_sections();
  static void forget_sections() noexcept;  // the same in a child of fork(), which has no such threads
  // On a worker: whether its task may be one of a run. After the loss of a rank, those of earlier runs
  // may be left.
  bool is_in_run() const noexcept { return running_.load(sync::relaxed); }
  bool has_leftovers() const noexcept { return is_supervised_; }
  bool is_of(nigh::tasks::Pool const& pool) const noexcept { return &pool == &scheduler().pool(); }

  // tasks::WorkSource
  bool find(nigh::detail::task& t) noexcept override;
  bool in_sight() const noexcept override { return !tasks_.has_none(); }
  void misses_one() noexcept override;

 private:
  nigh::tasks::Scheduler& scheduler() const noexcept {
    return nigh::detail::runtime_access::scheduler(workers_);
  }
  nigh::runtime start_workers(session_options const& options);

  // Polling
  bool next_task(nigh::detail::task& t) noexcept;
  nigh::detail::task runnable(std::unique_ptr<Task> task) noexcept;
  void nest_an_urgent_task() noexcept;
  void poll() noexcept;  // unless another thread does
  void turn() noexcept;  // under lock_, as the functions below
  void receive_some(std::int64_t now_ns) noexcept;
  void empty_outbox() noexcept;
  void end_calls() noexcept;
  void heed_notices() noexcept;
  void hear_of_losses(std::int64_t now_ns, bool has_read_all) noexcept;
  void start_beats(std::span<RankProcess const> of_this_host);
  [[noreturn]] void end_since(Engine::Notice const& why) noexcept;
  void part_from_the_others() noexcept;

  // The thread in run()
  void sleep_and_look() noexcept;
  void send_the_rest() noexcept;
  Lookout::Time how_long_to_sleep() noexcept;

  int const process_;
  std::unique_ptr<Transport> network_;
  std::vector<detail::function*> functions_;  // by number
  Layout layout_;
  bool const is_supervised_;            // ranks go on when another is lost
  std::int64_t const silence_ns_;       // with supervision: a rank silent for so long is lost
  std::unique_ptr<Watch> const watch_;  // null: the other ranks go on after a loss
  int const exceptions_ = std::uncaught_exceptions();  // when the session began
  bool const funneled_;                 // only the thread in run() polls

  std::unique_lock<nigh::tasks::Lock> locked() const;  // not locked within a section of this thread

  mutable nigh::tasks::Lock lock_;  // for the engine and the network
  TaskExchange tasks_;
  Engine engine_;
  detail::function const* root_ = nullptr;  // of the run, with supervision: another rank's, perhaps
  bytes root_input_;
  sync::atomic<bool> running_{false};  // between the beginning and the end of run(); set under lock_
  bool parts_ = false;    // no run will follow
  std::vector<int> ended_;  // ranks of this host whose processes have ended, for the next turn
  sync::atomic<std::int64_t> last_poll_ns_{0};

  Lookout lookout_;
  bool const all_can_ring_;  // every rank that may want something of this one can ring
  sync::atomic<bool> is_moving_{false};
  sync::atomic<bool> expects_tasks_{false};
  sync::atomic<bool> is_spare_{false};
  sync::atomic<int> wanted_size_{0};  // for the next turn; 0: as it is
  std::int64_t own_look_ns_ = 0;  // when the thread in run() has last polled
  int attended_ = 0;              // sleeps in a row of that thread in which workers polled
  sync::atomic<bool> is_over_{false};

  nigh::runtime workers_;         // its threads use the other members
  std::unique_ptr<Beats> beats_;  // last, for the same reason; null: the other ranks cannot go on
};

// The process's agent, while a session lasts.
extern base::Published<Agent> agent;

}  // namespace nigh::cluster
