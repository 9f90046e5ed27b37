// SPDX-License-Identifier: Apache-2.0
// What workers do: take tasks, search, sleep.

#include <array>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "platform/pause.hpp"
#include "policy/chunk_size.hpp"
#include "runtime/frame.hpp"
#include "runtime/until.hpp"

namespace nigh::detail {

using tasks::Take;

namespace {

constexpr policy::IdlePolicy idle_policy;

void pause(int times) noexcept {
  for (int i = 0; i < times; ++i) sync::pause();
}

using base::now_ns;

std::size_t one(std::size_t) noexcept { return 1; }

bool steal_one(tasks::LocalityQueue<task>& from, task& t) noexcept {
  std::size_t taken = 0;
  auto const how_many = [](std::size_t) { return policy::chunk_stolen(); };
  return from.try_take({&t, 1}, taken, how_many) == Take::taken;
}

}  // namespace

template <class Until>
void scheduler::serve(Worker& me, Until until) noexcept {
  Job job;
  while (!until.done()) {
    if (me.is_to_leave()) {
      rest(me, until);
      continue;
    }
    job.clear();
    if (find_invitation(me, job) || find_at_home(me, job.queued) || steal_somewhere(me, job) ||
        linger(me, job) || search(me, job, until))
      run(job, me);
  }
}
template void scheduler::serve(Worker&, Ending) noexcept;
template void scheduler::serve(Worker&, Dismissal) noexcept;

// Waits in a join or at a scope's end, and helps meanwhile: first whoever has the task that is
// waited for (leapfrogging: Wagner and Calder, PPoPP'93), since what is stolen back is part of it.
template <class Until>
void scheduler::await(Worker& me, Until until) noexcept {
  Job job;
  for (int look = 0; !until.done(); ++look) {
    share_all(me);  // of what lies below, nothing is looked after meanwhile; helping reclaims of it
    job.clear();
    if (look < idle_policy.looks_at_thief) {
      auto* const thief = until.thief(*this);
      if (thief == nullptr || !steal_from(me, *thief, level_to(me, *thief), job)) {
        sync::pause();
        continue;
      }
    } else if (!search(me, job, until)) {
      continue;
    }
    run(job, me);
    look = 0;
  }
}
template void scheduler::await(Worker&, StolenTask) noexcept;
template void scheduler::await(Worker&, Zero) noexcept;

// While a spawner is at work, tasks come one by one. Taking each as it comes would send the queue's
// cache lines back and forth for every task; a moment's patience makes it once for several. Stacks
// are looked at all the while: what is stolen there was meant to be.
bool scheduler::linger(Worker& me, Job& job) noexcept {
  for (int round = 0; round < idle_policy.rounds_lingering; ++round) {
    for (int i = 0; i < idle_policy.pauses_lingering; ++i) {
      sync::pause();
      if (find_invitation(me, job) || steal_somewhere(me, job)) return true;
    }
    if (find_at_home(me, job.queued)) return true;
  }
  return false;
}

scheduler::Searching::Searching(scheduler& host_, Worker& me_, bool counted_) noexcept
    : host(host_), me(me_), counted(counted_) {
  if (me.role != tasks::Role::guest) host.report_progress(me);
  if (counted) host.parking_->start_searching(me.home);
}

// The last searcher of a domain passes on the duty to look, whether it leaves with a task or
// because what it waited for has come.
scheduler::Searching::~Searching() {
  if (me.track != nullptr) me.track->resumed();
  if (counted && host.parking_->stop_searching(me.home) && host.work_in_sight(me.home))
    host.parking_->notify(me.home, tasks::Parking::everywhere);
}

template <class News>
bool scheduler::Searching::sleep(News news) noexcept {
  if (me.track != nullptr) me.track->parked();
  bool const gives_up_cpu = me.role == tasks::Role::guest;
  bool const counts = !gives_up_cpu && host.arena_ != nullptr;
  if (gives_up_cpu) host.parking_->displace(me.beside->seat, -1);
  if (counts) host.arena_->falls_asleep();
  bool const slept = counted ? host.parking_->sleep(me.seat, me.home, news)
                             : host.parking_->sleep_uncounted(me.seat, news);
  if (counts) host.arena_->woke();
  if (gives_up_cpu) host.parking_->displace(me.beside->seat, 1);
  if (me.track != nullptr) me.track->unparked(slept);
  return slept;
}

// Until its cpu is one of those that may be used. Spawners may have counted on it as one that
// searches, so it passes that on (parking.hpp, T); nobody finds it among the sleepers.
template <class Until>
void scheduler::rest(Worker& me, Until until) noexcept {
  {
    Searching const passing{*this, me, true};
  }
  if (me.track != nullptr) me.track->parked();
  me.counters.parked.add(1);
  arena_->falls_asleep();
  while (me.asked_to.load(sync::acquire) == Worker::leave && !until.surely_done())
    platform::futex_wait(me.asked_to, Worker::leave);
  arena_->woke();
  if (me.track != nullptr) me.track->unparked(true);
}

// A worker with little stack left has its stand-in help in its place while this lives.
struct scheduler::Relief {
  Relief(scheduler& host_, Worker& me_, bool wanted) noexcept
      : host(host_), me(me_), began(wanted && host.relieve(me)) {}
  ~Relief() {
    if (began) host.resume(me);
  }
  scheduler& host;
  Worker& me;
  bool const began;
};

// Looks for work until there is some or it is time to leave, sleeping in between; returns whether
// there is some. A guest is nobody's to wake, and so counts nowhere; nor does who leaves the work
// to a stand-in. A stand-in with little stack left has nobody to leave it to, and goes on helping:
// what everybody waits for may be a queued task.
//
// Who waits in a join and is to leave its cpu finishes what it has begun: it helps its thief, and
// runs what lies below on its own stack. Either way this ends when it is told otherwise.
template <class Until>
bool scheduler::search(Worker& me, Job& job, Until until) noexcept {
  bool const is_guest = me.role == tasks::Role::guest;
  bool const low = Until::joins && platform::stack_left() <= stack_to_help();
  Relief const relief(*this, me, low);
  bool const helps = !low || (!is_guest && !me.relieved);
  bool const leaves = Until::joins && me.is_to_leave();
  auto const is_told_otherwise = [&] { return me.is_to_leave() != leaves; };
  Searching search{*this, me, !is_guest && helps && !leaves};
  std::int64_t since = now_ns();
  for (int failed_rounds = 0; !until.done() && !is_told_otherwise(); ++failed_rounds) {
    auto* const thief = until.thief(*this);
    bool const abroad = policy::looks_abroad(failed_rounds, idle_policy);
    if (helps &&
        ((thief != nullptr && steal_from(me, *thief, level_to(me, *thief), job)) ||
         (!leaves && (find_invitation(me, job) || steal_somewhere(me, job))) ||
         (!is_guest && !leaves &&
          (find_at_home(me, job.queued) || find_in_rings(me.home, job.queued) ||
           (abroad && find_abroad(me.home, job.queued)))) ||
         (Until::joins && take_own(me, job)) ||
         (outside_tasks_ != nullptr && !is_guest && !leaves && find_outside(me, job.queued))))
      return true;
    me.counters.failed_steals.add(1);
    if (me.track != nullptr) me.track->search_failed();
    if (failed_rounds % idle_policy.rounds_per_clock_reading != 0) {
      pause(idle_policy.pauses_searching);
      continue;
    }
    auto how = policy::rest((now_ns() - since) / 1000, me.woken_in_vain, idle_policy);
    if (parking_->is_displaced(me.seat)) how = policy::Rest::sleep;
    switch (how) {
      case policy::Rest::pause:
        pause(idle_policy.pauses_searching);
        break;
      case policy::Rest::yield:
        platform::yield();
        // The next look is by the clock again.
        failed_rounds += idle_policy.rounds_per_clock_reading - 1;
        break;
      case policy::Rest::sleep:
        if (search.sleep([&] {
              if (until.surely_done() ||
                  (me.asked_to.load(sync::seq_cst) == Worker::leave) != leaves)  // (S)
                return true;
              if (!helps) return false;
              if (leaves) return !is_guest && me.stack.has_shared();
              if (me.box_here().is_full() || (!is_guest && work_in_sight(me.home))) return true;
              if (outside_tasks_ != nullptr) outside_tasks_->misses_one();
              return false;
            })) {
          me.counters.parked.add(1);
          me.woken_in_vain = true;
        }
        failed_rounds = 0;
        since = now_ns();
    }
  }
  return false;
}

std::uint32_t scheduler::steal_once(Worker& me) noexcept {
  Job job;
  if (platform::stack_left() <= stack_to_help() || !steal_somewhere(me, job)) return 0;
  run(job, me);
  return job.stolen.count;
}

// From one's own ring, else a chunk from one's own queue.
bool scheduler::find_at_home(Worker& me, task& t) noexcept {
  std::size_t taken = 0;
  if (me.ring->take({&t, 1}, taken, one) == Take::taken) return true;
  auto& mine = home(me.home);
  std::array<task, policy::largest_chunk> chunk;
  auto const how_many = [&](std::size_t waiting) {
    return policy::chunk_at_home(waiting, layout_.group(me.home).workers.size());
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
  for (int w : home(h).buffers)
    if (steal_one(*worker(w).ring, t)) return true;
  return false;
}

bool scheduler::find_abroad(int from, task& t) noexcept {
  for (int h : layout_.in_reach(from))
    if (steal_one(*home(h).queue, t) || find_in_rings(h, t)) return true;
  return false;
}

// Is there a task that a worker of this home may take? For those about to sleep, see Parking.
bool scheduler::work_in_sight(int h) const noexcept {
  auto const any = [&](Home const& there) {
    if (!there.queue->empty()) return true;
    for (int w : there.buffers)
      if (!worker(w).ring->empty()) return true;
    return false;
  };
  if (any(home(h))) return true;
  if (outside_tasks_ != nullptr && outside_tasks_->in_sight()) return true;
  for (auto const& w : pinned_workers())
    if (w->stack.has_shared()) return true;
  if (extras_present_.load(sync::seq_cst) > 0)  // (S)
    for (auto const& seat : extras())
      if (seat->stack.has_shared()) return true;
  for (int other : layout_.in_reach(h))
    if (any(home(other))) return true;
  return false;
}

void scheduler::run(Job& job, Worker& me) noexcept {
  me.woken_in_vain = false;
  if (job.invited != nullptr)
    run_invited(*job.invited);
  else if (job.victim != nullptr)
    run_stolen(job, me);
  else
    run(job.queued, &me);
}

// Without `me`, in a thread from outside, which is a guest meanwhile: what the task forks is ours.
void scheduler::run(task& t, Worker* me) noexcept {
  {
    guest const outsider(me == nullptr ? this : nullptr);
    Frame const frame(t.domain, t.bytes);
    try {
      t.call(t.storage);
    } catch (...) {
      keep_exception();
    }
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
  if (me.track != nullptr && all_done()) me.track->all_done();
  quiescence_.announce([&] { return all_done(); });
}

bool scheduler::all_done() const noexcept {
  auto finished = outside_.finished_so_far();
  for (auto const& w : queue_takers()) finished += w->tasks.finished_so_far();
  auto spawned = outside_.spawned_so_far();
  for (auto const& w : queue_takers()) spawned += w->tasks.spawned_so_far();
  return finished == spawned;
}

}  // namespace nigh::detail
