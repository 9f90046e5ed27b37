// SPDX-License-Identifier: Apache-2.0
#pragma once
// A rank: joins the engine, the network, and the workers of this process.
//
//   workers ──find()──▶ inbox ◀──── engine ◀────── network
//      │                              │ ▲             ▲
//      └── task stacks ◀──give()──────┘ └── outbox ───┘
//
// Who polls: an idle worker in its search; a worker that ends a cluster task, if nobody has for
// 15 us or a neighbour waits; the thread in run(), if nobody has lately. One at a time, under
// lock_, which nobody but mpi_section waits for: who finds it taken goes on. What others want to
// send meanwhile waits in the outbox, which whoever polls empties.
//
// Between runs nothing is sent or received, but for what tells others that a supervised rank is
// there. Where a rank was lost, tasks may be left that nobody waits for; what they spawn and return
// stays here.

#include <mutex>
#include <nigh/cluster.hpp>
#include <optional>
#include <vector>

#include "cluster/beats.hpp"
#include "cluster/engine.hpp"
#include "cluster/functions.hpp"
#include "cluster/inbox.hpp"
#include "cluster/layout.hpp"
#include "cluster/lookout.hpp"
#include "cluster/outbox.hpp"
#include "cluster/placed.hpp"
#include "cluster/watch/watch.hpp"
#include "runtime/lock.hpp"
#include "runtime/outside.hpp"
#include "runtime/scheduler.hpp"

namespace nigh::cluster {

constexpr Token root_token = ~Token{0} >> 1;
constexpr Token free_token = root_token - 1;  // nobody waits for its result

class Agent final : public tasks::Outside, private Engine::Host {
 public:
  // Collective.
  Agent(std::unique_ptr<Transport> network, Settings const& settings);
  ~Agent() override;

  int rank() const noexcept { return layout_.self; }
  int ranks() const noexcept { return static_cast<int>(layout_.places.size()); }
  nigh::runtime& workers() noexcept { return workers_; }
  rank_counters counters();

  bytes run(detail::function const& f, bytes input);
  bool place(int rank, detail::placed const& task, byte_view input);

  // Free tasks, as the calling worker creates and ends them.
  void begin_free_task() noexcept;
  void end_free_task() noexcept;
  void fail_free_task(std::exception_ptr e) noexcept;  // instead of ending it

  // A worker has ended a task.
  void between_tasks(std::int64_t now_ns) noexcept;
  tasks::Lock& lock() noexcept { return lock_; }
  bool is_of(nigh::detail::scheduler const& host) const noexcept { return &host == &scheduler(); }

  // tasks::Outside
  bool find(nigh::detail::task& t) noexcept override;
  bool in_sight() const noexcept override { return !inbox_.surely_empty(); }
  void misses_one() noexcept override;

 private:
  // Engine::Host
  bool is_hungry() override;
  bool is_busy() override;
  std::uint16_t give(Writer& to, Chunk const& chunk) override;
  void take(Task task) override;
  void forget(int rank) override { inbox_.forget(rank); }
  void leave(int rank) override;
  void has_to_end(End why, int because_of) override;
  void ring(int neighbour) override;
  void deliver(Token token, detail::outcome const& what) override;
  TaskCounts free_tasks() override;

  nigh::detail::scheduler& scheduler() const noexcept { return *workers_.scheduler_; }
  void poll() noexcept;  // unless somebody does
  void turn() noexcept;  // under lock_
  void sleep_and_look() noexcept;
  Lookout::Time how_long_to_sleep() noexcept;
  void hear_of_losses(std::int64_t now_ns) noexcept;
  void receive_some(std::int64_t now_ns) noexcept;
  void part_from_the_others() noexcept;
  void put(Inbox::Item item);
  nigh::runtime start_workers(session_options const& options);
  bool give_slot(Writer& to, nigh::detail::scheduler::Worker& victim,
                 nigh::detail::task_slot& slot);
  void run_task(std::unique_ptr<Task> task) noexcept;

  std::unique_ptr<Transport> network_;
  std::vector<detail::function*> functions_;  // by number
  Layout layout_;
  bool const is_supervised_;            // ranks go on when another is lost
  std::int64_t const silence_ns_;       // if so: after that, one is left
  std::unique_ptr<Watch> const watch_;  // null: they do
  bool const funneled_;

  tasks::Lock lock_;  // for the engine and the network, and running_
  Engine engine_;
  bool running_ = false;  // between the beginning and the end of run()
  sync::atomic<std::int64_t> last_poll_ns_{0};

  Inbox inbox_;
  Outbox outbox_;
  PlacedTasks placed_;

  // Of one seat; only its thread writes.
  struct alignas(64) FreeTasks {
    sync::atomic<std::uint64_t> created{0}, finished{0};
  };
  std::unique_ptr<FreeTasks[]> free_tasks_;  // [seat]

  Lookout lookout_;
  bool const all_can_ring_;  // who want something of this rank
  sync::atomic<bool> is_moving_{false};
  sync::atomic<bool> expects_tasks_{false};
  std::int64_t own_look_ns_ = 0;  // when the thread in run() has last polled
  int attended_ = 0;              // of its sleeps, in a row: workers polled
  sync::atomic<bool> is_over_{false};

  nigh::runtime workers_;         // its threads use the rest
  std::optional<Beats> beats_;  // last, for the same reason
};

// The process's, while a session lasts.
extern sync::atomic<Agent*> agent;

}  // namespace nigh::cluster
