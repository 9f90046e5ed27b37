// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tasks of a rank's workers, as the engine sees them: takes waiting tasks out of their stacks
// for other ranks, hands imported tasks to workers, and ends a task when its result is back.
//
//   workers' task stacks ──give()──▶ engine ──take()──▶ inbox ──next()──▶ a worker ──run()──┐
//            ▲                         ▲                                                    │
//            └────────deliver()────────┘◀──────────────────── outbox ◀──────────────────────┘
//
// An exported task keeps its slot in its owner's stack until its result is delivered.

#include <cstdint>
#include <exception>
#include <memory>
#include <nigh/cluster.hpp>
#include <vector>

#include "cluster/engine.hpp"
#include "cluster/task_queues.hpp"
#include "runtime/put_count.hpp"
#include "runtime/scheduler.hpp"

namespace nigh::cluster {

constexpr Token root_token = ~Token{0} >> 1;
constexpr Token free_token = root_token - 1;  // nobody waits for its result

class TaskExchange final : public Engine::Tasks {
 public:
  // functions: by number; they must outlive the exchange.
  TaskExchange(int self, int ranks, std::size_t most_placed,
               std::vector<detail::function*> const& functions)
      : self_(self), functions_(functions), placed_(ranks, most_placed) {}
  // Before the first run.
  void attach(nigh::tasks::Scheduler& workers);

  // ---- for workers

  // The oldest imported task. False: there is none.
  bool next(Inbox::Item& item) { return inbox_.take(item); }
  bool has_none() const noexcept { return inbox_.surely_empty(); }
  // The oldest task of a lost rank, which should not wait for a worker without work.
  bool has_urgent() const noexcept { return inbox_.has_urgent(); }
  bool next_urgent(Inbox::Item& item) { return inbox_.take_urgent(item); }
  // Runs a task of next(), in that run. True: its result is in the outbox, to be sent.
  bool run(std::unique_ptr<Task> task, std::uint32_t run) noexcept;
  // False: too many are on their way to that rank. Otherwise the task is in the outbox.
  bool place(int rank, detail::placed const& task, byte_view input, std::uint32_t run);
  // is_again: the rank that had it is lost.
  void add_root(detail::function const& f, bytes input, std::uint32_t run, bool is_again);

  // Free tasks, as the calling worker creates and ends them.
  void begin_free_task() noexcept;
  void end_free_task() noexcept;
  void fail_free_task(std::exception_ptr e) noexcept;  // instead of ending it

  // ---- for the thread that polls

  Outbox& outbox() noexcept { return outbox_; }
  std::uint64_t placed() { return placed_.count(); }
  std::uint64_t refused() { return placed_.refused(); }
  std::uint64_t begun_again() const noexcept { return begun_again_.load(sync::relaxed); }

  // ---- Engine::Tasks
  bool is_hungry() override;
  bool is_busy() override;
  std::uint16_t give(Writer& to, Chunk const& chunk) override;
  void take(Task task) override;
  void forget(int rank) override { inbox_.forget(rank); }
  void deliver(Token token, detail::outcome const& what) override;
  TaskCounts free_tasks() override;

 private:
  void put(Inbox::Item item);
  bool give_slot(Writer& to, nigh::tasks::Worker& victim, nigh::detail::task_slot& slot);

  int const self_;
  std::vector<detail::function*> const& functions_;
  nigh::tasks::Scheduler* workers_ = nullptr;
  Inbox inbox_;
  Outbox outbox_;
  PlacedTasks placed_;
  sync::atomic<std::uint64_t> begun_again_{0};  // a count that only people read

  std::unique_ptr<nigh::tasks::PutCount[]> free_tasks_;  // [thread slot]
};

}  // namespace nigh::cluster
