// SPDX-License-Identifier: Apache-2.0
// Work stealing with bounded queues: what does not fit is run at once, by who spawned it.
#include "sim/steal/steal_run.hpp"

namespace nigh::sim {

// Equal parts, one behind the other. Nobody goes on to the next phase before all are taken.
void StealRun::submit_part(std::uint32_t w) {
  auto& worker = workers_[w];
  auto const& phase = forest_.phases[worker.phases_begun++];
  auto const tasks = std::uint64_t{phase.end} - phase.begin;
  auto const begin_of = [&](std::uint64_t part) {
    return static_cast<TaskId>(phase.begin + tasks * part / workers_.size());
  };
  --open_;
  open_tasks_[w].push_back({nobody, begin_of(w), begin_of(w + std::uint64_t{1})});
  proceed(w);
}

void StealRun::proceed(std::uint32_t w) {
  auto& worker = workers_[w];
  auto& open = open_tasks_[w];
  policy::ForkCutoffs const cutoffs{0, rules_.queue_cutoff};
  while (!open.empty()) {
    auto& at = open.back();
    while (at.next < at.end && policy::forks(0, worker.queue.size(), cutoffs)) {
      worker.queue.push(at.next);
      ++open_;
      at.next += forest_.size[at.next];
    }
    share(worker);
    if (at.next < at.end) {
      auto const child = at.next;
      at.next += forest_.size[child];
      ++open_;
      ++outcome_.run_inline;
      return begin(w, child, 0);  // nothing was made of it
    }
    if (has_newer(worker, at.task, at.end)) return begin(w, worker.queue.pop(), spawn_ns_);
    open.pop_back();
  }
  go_on(w);
}

// A descendant that nobody else can take.
bool StealRun::has_newer(Worker const& worker, TaskId task, TaskId end) const noexcept {
  if (worker.queue.owned() == 0) return false;
  auto const newest = worker.queue.newest();
  return task < newest && newest < end;
}

}  // namespace nigh::sim
