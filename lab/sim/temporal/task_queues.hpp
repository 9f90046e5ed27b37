// SPDX-License-Identifier: Apache-2.0
#pragma once
// The locality queues of modelled workers: where tasks wait, and which a worker takes next, by the
// product's layout, search order and chunks. There are no stacks: who looks, looks everywhere.

#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/work_search.hpp"
#include "policy/stealing/worker_layout.hpp"

namespace nigh::sim {

class TaskQueues {
 public:
  // The layout lives longer.
  explicit TaskQueues(policy::WorkerLayout const& layout)
      : layout_(layout),
        queue_(layout.groups().size()),
        idle_(layout.groups().size()),
        buffer_(static_cast<std::size_t>(layout.workers())) {}

  std::vector<int> const& queues_of(int domain) const { return layout_.groups_of_domain(domain); }

  // An idle worker that now has something to look for: of that group first.
  std::optional<int> put(int queue, std::size_t task) {
    at(queue_, queue).push_back(task);
    if (auto const worker = wake(queue)) return worker;
    for (int const other : layout_.group(queue).others)
      if (auto const worker = wake(other)) return worker;
    return {};
  }

  // Nothing: this worker is idle from now on.
  std::optional<std::size_t> take(int worker) {
    static constexpr auto order = policy::search_order(
        policy::SearchPhase::search,
        policy::permissions(policy::ThreadKind::worker, policy::WaitingFor::work,
                            /*stack_low=*/false, /*cpu_revoked=*/false),
        /*failed_rounds=*/std::numeric_limits<int>::max());
    for (auto const source : order)
      if (auto const task = look_at(source, worker)) return task;
    at(idle_, layout_.group_of(worker)).push_back(worker);
    return {};
  }

 private:
  using Tasks = std::deque<std::size_t>;

  template <class T>
  static T& at(std::vector<T>& all, int i) noexcept {
    return all[static_cast<std::size_t>(i)];
  }
  static std::optional<std::size_t> oldest(Tasks& tasks) {
    if (tasks.empty()) return {};
    auto const task = tasks.front();
    tasks.pop_front();
    return task;
  }
  std::optional<int> wake(int group) {
    auto& idle = at(idle_, group);
    if (idle.empty()) return {};
    int const worker = idle.front();
    idle.pop_front();
    return worker;
  }
  std::optional<std::size_t> look_at(policy::Source source, int worker) {
    int const mine = layout_.group_of(worker);
    switch (source) {
      case policy::Source::own_queue:
        if (auto const task = oldest(at(buffer_, worker))) return task;
        return take_chunk(worker, mine);
      case policy::Source::sibling_buffers:
        return take_from_buffers(mine);
      case policy::Source::other_queues:
        for (int const other : layout_.in_reach(mine)) {
          if (auto const task = oldest(at(queue_, other))) return task;
          if (auto const task = take_from_buffers(other)) return task;
        }
        return {};
      default:
        return {};
    }
  }
  std::optional<std::size_t> take_chunk(int worker, int group) {
    auto& queue = at(queue_, group);
    if (queue.empty()) return {};
    auto const chunk =
        policy::chunk_of_own_queue(queue.size(), layout_.group(group).workers.size());
    auto const first = oldest(queue);
    for (std::size_t n = 1; n < chunk; ++n) at(buffer_, worker).push_back(*oldest(queue));
    return first;
  }
  // Tasks that the workers of a group have taken and not begun.
  std::optional<std::size_t> take_from_buffers(int group) {
    static_assert(policy::chunk_stolen() == 1);
    for (int const w : layout_.group(group).workers)
      if (auto const task = oldest(at(buffer_, w))) return task;
    return {};
  }

  policy::WorkerLayout const& layout_;
  std::vector<Tasks> queue_;           // [group]
  std::vector<std::deque<int>> idle_;  // [group]: workers
  std::vector<Tasks> buffer_;          // [worker]: taken from its queue and not begun
};

}  // namespace nigh::sim
