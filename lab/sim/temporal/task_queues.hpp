// SPDX-License-Identifier: Apache-2.0
#pragma once
// The locality queues of modelled workers: where tasks wait, and who takes which next, as the
// scheduler does it with the same policies.

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/worker_layout.hpp"

namespace nigh::sim {

class TaskQueues {
 public:
  TaskQueues(topology const& machine, std::span<int const> cpus, level level)
      : homes_(policy::queue_groups(machine, cpus, level)),
        queue_(homes_.size()),
        idle_(homes_.size()),
        home_of_(cpus.size()),
        ring_(cpus.size()),
        of_domain_(machine.domains().size()) {
    for (std::size_t h = 0; h < homes_.size(); ++h) {
      of_domain_[static_cast<std::size_t>(homes_[h].domain)].push_back(static_cast<int>(h));
      for (int const w : homes_[h].workers) home_of_[static_cast<std::size_t>(w)] = h;
    }
  }

  std::vector<int> const& queues_of(int domain) const noexcept {
    return of_domain_[static_cast<std::size_t>(domain)];
  }

  // An idle worker that now has something to look for: of that home first.
  std::optional<int> put(int queue, std::size_t task) {
    auto const h = static_cast<std::size_t>(queue);
    queue_[h].push_back(task);
    if (auto const worker = wake(h)) return worker;
    for (int const other : homes_[h].others)
      if (auto const worker = wake(static_cast<std::size_t>(other))) return worker;
    return {};
  }

  // Nothing: this worker is idle from now on.
  std::optional<std::size_t> take(int worker) {
    auto const w = static_cast<std::size_t>(worker);
    auto const mine = home_of_[w];
    if (auto const task = oldest(ring_[w])) return task;
    if (auto const task = take_chunk(w, mine)) return task;
    if (auto const task = take_from_rings(mine)) return task;
    for (int const other : homes_[mine].others) {
      auto const h = static_cast<std::size_t>(other);
      if (auto const task = oldest(queue_[h])) return task;
      if (auto const task = take_from_rings(h)) return task;
    }
    idle_[mine].push_back(worker);
    return {};
  }

 private:
  using Tasks = std::deque<std::size_t>;

  static std::optional<std::size_t> oldest(Tasks& tasks) {
    if (tasks.empty()) return {};
    auto const task = tasks.front();
    tasks.pop_front();
    return task;
  }
  std::optional<int> wake(std::size_t home) {
    if (idle_[home].empty()) return {};
    int const worker = idle_[home].front();
    idle_[home].pop_front();
    return worker;
  }
  std::optional<std::size_t> take_chunk(std::size_t worker, std::size_t home) {
    auto& queue = queue_[home];
    if (queue.empty()) return {};
    auto const chunk = policy::chunk_of_own_queue(queue.size(), homes_[home].workers.size());
    auto const first = oldest(queue);
    for (std::size_t n = 1; n < chunk; ++n) ring_[worker].push_back(*oldest(queue));
    return first;
  }
  // The tasks that a home's workers have taken and not begun.
  std::optional<std::size_t> take_from_rings(std::size_t home) {
    static_assert(policy::chunk_stolen() == 1);
    for (int const w : homes_[home].workers)
      if (auto const task = oldest(ring_[static_cast<std::size_t>(w)])) return task;
    return {};
  }

  std::vector<policy::QueueGroup> homes_;
  std::vector<Tasks> queue_;                 // [home]
  std::vector<std::deque<int>> idle_;        // [home]: workers
  std::vector<std::size_t> home_of_;         // [worker]
  std::vector<Tasks> ring_;                  // [worker]: taken from its queue and not begun
  std::vector<std::vector<int>> of_domain_;  // [domain]: homes
};

}  // namespace nigh::sim
