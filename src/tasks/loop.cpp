// SPDX-License-Identifier: Apache-2.0
// What workers do: take tasks, search, sleep.

#include <array>

#include "base/assert.hpp"
#include "platform/pause.hpp"
#include "policy/chunk_size.hpp"
#include "policy/idle.hpp"
#include "tasks/scheduler.hpp"

namespace nigh::detail {

using tasks::Take;

namespace {

constexpr policy::IdlePolicy idle_policy;
constexpr int pauses_per_round = 4;
constexpr int pauses_lingering = 16;  // about 0.8 us

void pause(int times) noexcept {
  for (int i = 0; i < times; ++i) sync::pause();
}

std::size_t one(std::size_t) noexcept { return 1; }

bool steal_one(tasks::LocalityQueue<task>& from, task& t) noexcept {
  std::size_t taken = 0;
  auto const how_many = [](std::size_t) { return policy::chunk_stolen(); };
  return from.try_take({&t, 1}, taken, how_many) == Take::taken;
}

}  // namespace

void scheduler::work(Worker& me) noexcept {
  task t;
  while (find_at_home(me, t) || linger(me, t) || search(me, t)) run(t, &me);
}

// While a spawner is at work, tasks come one by one. Taking each as it comes would send the queue's
// cache lines back and forth for every task; a moment's patience makes it once for several.
bool scheduler::linger(Worker& me, task& t) noexcept {
  for (int round = 0; round < idle_policy.rounds_lingering; ++round) {
    pause(pauses_lingering);
    if (find_at_home(me, t)) return true;
  }
  return false;
}

// Looks for a task until there is one, sleeping in between; false when the runtime ends.
bool scheduler::search(Worker& me, task& t) noexcept {
  report_progress(me);
  parking_->start_searching(me.home);
  int failed_rounds = 0;
  while (!stopping_.load(sync::relaxed)) {
    bool const abroad = may_run_abroad() && policy::looks_abroad(failed_rounds, idle_policy);
    if (find_at_home(me, t) || find_in_rings(me.home, t) || (abroad && find_abroad(me.home, t))) {
      if (parking_->stop_searching(me.home) && work_in_sight(me.home)) parking_->notify(me.home);
      return true;
    }
    ++failed_rounds;
    if (policy::next(policy::Idle::searching, failed_rounds, false, idle_policy) ==
        policy::Idle::sleepy) {
      auto const news = [&] {
        return stopping_.load(sync::seq_cst) || work_in_sight(me.home);
      };  // (S)
      if (parking_->sleep(me.index, me.home, news)) me.counters.parked.add(1);
      failed_rounds = 0;
    } else {
      pause(pauses_per_round);
    }
  }
  parking_->stop_searching(me.home);
  return false;
}

// From one's own ring, else a chunk from the domain's queue.
bool scheduler::find_at_home(Worker& me, task& t) noexcept {
  std::size_t taken = 0;
  if (me.ring->take({&t, 1}, taken, one) == Take::taken) return true;
  auto& mine = home(me.home);
  std::array<task, policy::largest_chunk> chunk;
  auto const how_many = [&](std::size_t waiting) {
    return policy::chunk_at_home(waiting, mine.workers.size());
  };
  if (mine.queue->take(chunk, taken, how_many) != Take::taken) return false;
  t = chunk[0];
  if (taken > 1) {
    bool const fits = me.ring->push({chunk.data() + 1, taken - 1});
    NIGH_ASSERT(fits, "a chunk goes into an empty ring");
  }
  return true;
}

// What a home's workers have taken and not begun.
bool scheduler::find_in_rings(int h, task& t) noexcept {
  for (int w : home(h).workers)
    if (steal_one(*worker(w).ring, t)) return true;
  return false;
}

bool scheduler::find_abroad(int from, task& t) noexcept {
  for (int h : home(from).others)
    if (steal_one(*home(h).queue, t) || find_in_rings(h, t)) return true;
  return false;
}

// Is there a task that a worker of this home may take? For those about to sleep, see Parking.
bool scheduler::work_in_sight(int h) const noexcept {
  auto const any = [&](Home const& there) {
    if (!there.queue->empty()) return true;
    for (int w : there.workers)
      if (!worker(w).ring->empty()) return true;
    return false;
  };
  if (any(home(h))) return true;
  if (may_run_abroad())
    for (int other : home(h).others)
      if (any(home(other))) return true;
  return false;
}

void scheduler::run(task& t, Worker* me) noexcept {
  try {
    t.call(t.storage);
  } catch (...) {
    keep_exception();
  }
  if (options_.pending_limit > 0) pending_.fetch_sub(1, sync::relaxed);
  if (me != nullptr) {
    me->counters.count(me->domain, t.domain, t.bytes);
    me->tasks.finished();
  } else {
    outside_.finished();
    quiescence_.announce([&] { return all_done(); });
  }
}

void scheduler::keep_exception() noexcept {
  std::lock_guard const guard(exception_lock_);
  if (!exception_) exception_ = std::current_exception();
}

void scheduler::report_progress(Worker& me) noexcept {
  if (!me.tasks.has_news()) return;
  me.tasks.publish();
  quiescence_.announce([&] { return all_done(); });
}

bool scheduler::all_done() const noexcept {
  auto finished = outside_.finished_so_far();
  for (auto const& w : workers_) finished += w->tasks.finished_so_far();
  auto spawned = outside_.spawned_so_far();
  for (auto const& w : workers_) spawned += w->tasks.spawned_so_far();
  return finished == spawned;
}

}  // namespace nigh::detail
