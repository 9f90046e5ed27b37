// SPDX-License-Identifier: Apache-2.0
// Work stealing with bounded queues: what does not fit is run at once, by who spawned it.

#include "sim/steal/steal_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nigh::sim {

namespace {

Time whole(Sourced const& ns) { return static_cast<Time>(std::llround(ns.value)); }

}  // namespace

result<StealMachine> steal_machine(Machine const& machine, int workers) {
  auto const& levels = machine.levels;
  if (levels.empty())
    return error{machine.name + " says nothing of \"levels\", of what it costs to take work away"};
  int const all = levels.back().cpus;
  if (workers <= 0) workers = all;
  if (workers > all)
    return error{machine.name + " has " + std::to_string(all) + " cpus, not " +
                 std::to_string(workers)};
  for (auto const& l : levels)  // inside out, so that later ones keep what earlier ones asked for
    if (l.cpus < workers) workers = (workers + l.cpus - 1) / l.cpus * l.cpus;

  StealMachine found;
  found.per_host = static_cast<int>(machine.shape.cpus().size());
  found.interface_ns = whole(machine.interface_ns);
  if (machine.spawn_ns) found.spawn_ns = whole(*machine.spawn_ns);
  std::vector<policy::RegularLevel> groups;
  int inner = 1;
  for (auto const& l : levels) {
    int const size = std::min(l.cpus, workers);
    if (size == inner) continue;  // as regular_plan() does
    inner = size;
    groups.push_back({l.level, size, 0});
    found.rungs.push_back({l.name, whole(l.probe_ns), whole(l.lock_ns), whole(l.copy_ns),
                           whole(l.unlock_ns), 1 / l.gb_per_s.value, size > found.per_host});
  }
  found.plan = policy::regular_plan(groups);
  return found;
}

namespace {

constexpr int descriptor_bytes = 16;    // of a task, beside its arguments
constexpr std::uint64_t patience = 64;  // futile rounds of each worker
constexpr std::uint32_t submitter = 0;  // the worker that a program begins on
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

}  // namespace

StealRun::StealRun(TaskForest const& forest, StealMachine const& machine, StealRules const& rules,
                   std::uint64_t seed, Halt halt)
    : forest_(forest),
      machine_(machine),
      rules_(rules),
      spawn_ns_(machine.spawn_ns.value_or(forest.spawn_ns)),
      random_(seed),
      halt_(halt),
      workers_(static_cast<std::size_t>(machine.workers())),
      interface_free_(static_cast<std::size_t>(machine.hosts()), 0) {
  outcome_.steals_at.resize(machine.rungs.size());
  if (is_bounded()) open_tasks_.resize(workers_.size());
}

result<StealOutcome> StealRun::run() {
  if (halt_.worker >= 0) post(halt_.at, static_cast<std::uint32_t>(halt_.worker), halts);
  for (std::uint32_t w = 0; w < workers_.size(); ++w) post(0, w, rested);
  while (!all_done()) {
    if (events_.empty() || is_stuck()) return error{states()};
    fetch_early();
    happen(events_.pop());
    ++outcome_.events;
  }
  outcome_.makespan = events_.now();
  return outcome_;
}

// With many workers each event finds its own, and that one's victim, out of the caches.
void StealRun::fetch_early() const noexcept {
  if (auto const* const soon = events_.upcoming(2)) __builtin_prefetch(&workers_[*soon], 1);
  if (auto const* const next = events_.upcoming(1))
    __builtin_prefetch(&workers_[workers_[*next].victim], 1);
}

void StealRun::happen(Event const& event) {
  auto const w = event.actor;
  auto& worker = workers_[w];
  if (worker.doing == Doing::halted) return;
  switch (static_cast<Step>(event.what)) {
    case submitted:
      return submit_phase(w);
    case ran:
      return end_task(w);
    case probed:
      return probe_ended(w);
    case lock_asked:
      return ask_lock(w, worker.victim);
    case lock_granted:
      return copy(w);
    case copied:
      worker.doing = Doing::unlocking;
      return post(begin_operation(w) + costs(worker).unlock / 2, w, unlocked);
    case unlocked:
      post(events_.now() + costs(worker).unlock / 2, w, visited);
      return release(worker.victim);
    case visited:
      if (worker.queue.size() == 0) return in_vain(w);
      --busy_;
      return go_on(w);
    case taken_back:
      if (is_busy(worker)) --busy_;
      release(w);
      return go_on(w);
    case rested:
      return search(w);
    case halts:
      if (is_busy(worker)) --busy_;
      worker.doing = Doing::halted;
      return;
  }
}

// The submitter's own part is done: the phase's tasks are there.
void StealRun::submit_phase(std::uint32_t w) {
  auto& worker = workers_[w];
  auto const& phase = forest_.phases[phase_++];
  if (in_parts()) {
    --busy_;
    open_ += workers_.size();  // parts
    return submit_part(w);
  }
  if (is_bounded()) {
    --busy_;
    open_tasks_[w].push_back({nobody, phase.begin, phase.end});
    return proceed(w);
  }
  forest_.for_roots(phase.begin, phase.end, [&](TaskId t) {
    worker.queue.push(t);
    ++open_;
  });
  --busy_;
  share(worker);
  go_on(w);
}

void StealRun::end_task(std::uint32_t w) {
  auto& worker = workers_[w];
  --busy_;
  --open_;
  ++outcome_.tasks;
  if (is_bounded()) return proceed(w);
  forest_.for_children(worker.task, [&](TaskId t) {
    worker.queue.push(t);
    ++open_;
  });
  share(worker);
  go_on(w);
}

// Rounded down, so that a worker keeps its last task to itself.
void StealRun::share(Worker& worker) noexcept {
  worker.queue.share(
      static_cast<std::uint32_t>(std::floor(rules_.shared_part * worker.queue.size())));
}

void StealRun::begin(std::uint32_t w, TaskId task, Time spawn_ns) {
  auto& worker = workers_[w];
  worker.attempt = worker.failed_rounds = 0;
  worker.task = task;
  worker.doing = Doing::running;
  ++busy_;
  futile_rounds_ = 0;
  if (is_bounded()) open_tasks_[w].push_back({task, task + 1, task + forest_.size[task]});
  post(events_.now() + spawn_ns + forest_.run_of(task), w, ran);
}

void StealRun::go_on(std::uint32_t w) {
  auto& worker = workers_[w];
  if (worker.queue.owned() > 0) return begin(w, worker.queue.pop(), spawn_ns_);
  if (worker.queue.shared() > 0) return ask_lock(w, w);
  search(w);
}

void StealRun::search(std::uint32_t w) {
  auto& worker = workers_[w];
  if (in_parts() && worker.phases_begun < phase_) return submit_part(w);
  if (w == submitter && open_ == 0 && phase_ < forest_.phases.size()) {
    worker.doing = Doing::submitting;
    ++busy_;
    return post(events_.now() + forest_.phases[phase_].before_ns, w, submitted);
  }
  auto const who = policy::victim(machine_.plan, static_cast<int>(w), rules_.victims,
                                  worker.attempt++, random_.bits());
  if (who.worker < 0) {  // alone
    worker.doing = Doing::nothing;
    return;
  }
  worker.victim = static_cast<std::uint32_t>(who.worker);
  worker.rung = static_cast<std::uint8_t>(who.level);
  worker.doing = Doing::probing;
  ++outcome_.probes;
  post(begin_operation(w) + costs(worker).probe, w, probed);
}

void StealRun::probe_ended(std::uint32_t w) {
  auto& worker = workers_[w];
  if (workers_[worker.victim].queue.shared() < least_from(worker)) return in_vain(w);
  worker.doing = Doing::locking;
  post(begin_operation(w) + costs(worker).lock / 2, w, lock_asked);
}

void StealRun::in_vain(std::uint32_t w) {
  auto& worker = workers_[w];
  if (worker.attempt < machine_.plan.attempts_per_round) return search(w);
  worker.attempt = 0;
  ++worker.failed_rounds;
  ++futile_rounds_;
  auto const pause = policy::search_pause_ns(worker.failed_rounds, rules_.pause);
  if (pause == 0) return search(w);
  worker.doing = Doing::resting;
  post(events_.now() + pause, w, rested);
}

void StealRun::ask_lock(std::uint32_t thief, std::uint32_t victim) {
  auto& at = workers_[victim];
  workers_[thief].victim = victim;
  if (!at.locked) {
    at.locked = true;
    return grant(thief);
  }
  workers_[thief].doing = Doing::waiting;
  workers_[thief].next_waiting = nobody;
  (at.first_waiting == nobody ? at.first_waiting : workers_[at.last_waiting].next_waiting) = thief;
  at.last_waiting = thief;
}

// Of tasks that its victim shares.
std::size_t StealRun::least_from(Worker const& thief) const noexcept {
  if (!rules_.whole_chunks) return 1;
  auto const& plan = machine_.plan;
  return policy::least_to_steal(rules_.chunks, plan.levels[thief.rung].level, plan.topmost,
                                rules_.fixed);
}

void StealRun::grant(std::uint32_t thief) {
  auto& worker = workers_[thief];
  if (worker.doing == Doing::halted) return;  // and the lock is gone with it
  auto& victim = workers_[worker.victim];
  auto const waiting = victim.queue.shared();
  if (worker.victim == thief) {
    worker.doing = Doing::taking_back;
    worker.queue.take_back(waiting - waiting / 2);
    if (is_busy(worker)) ++busy_;
    return post(events_.now() + machine_.own_lock_ns(), thief, taken_back);
  }
  worker.doing = Doing::copying;
  auto const& plan = machine_.plan;
  auto const chunk =
      waiting < least_from(worker)  // others have been quicker
          ? 0
          : policy::chunk_to_steal(rules_.chunks, waiting, plan.levels[worker.rung].level,
                                   plan.topmost, rules_.fixed, no_limit);
  victim.queue.give(static_cast<std::uint32_t>(chunk), worker.queue);
  if (chunk > 0) {
    ++busy_;
    ++outcome_.steals;
    ++outcome_.steals_at[worker.rung];
    outcome_.stolen += chunk;
  }
  post(events_.now() + costs(worker).lock / 2, thief, lock_granted);
}

void StealRun::copy(std::uint32_t thief) {
  auto const& worker = workers_[thief];
  if (worker.queue.size() == 0) return post(events_.now(), thief, copied);
  auto const bytes = static_cast<double>(worker.queue.size()) * (forest_.bytes + descriptor_bytes);
  post(begin_operation(thief) + costs(worker).copy_of(bytes), thief, copied);
}

void StealRun::release(std::uint32_t victim) {
  auto& at = workers_[victim];
  auto const next = at.first_waiting;
  if (next == nobody) {
    at.locked = false;
    return;
  }
  at.first_waiting = workers_[next].next_waiting;
  grant(next);
}

// Operations that cross hosts take their turns at both interfaces.
Time StealRun::begin_operation(std::uint32_t thief) {
  auto const& worker = workers_[thief];
  auto at = events_.now();
  if (!costs(worker).crosses_hosts) return at;
  for (auto w : {thief, worker.victim}) {
    auto& free = interface_free_[w / static_cast<std::uint32_t>(machine_.per_host)];
    at = std::max(at, free);
    free = at + machine_.interface_ns;
  }
  return at;
}

bool StealRun::is_busy(Worker const& worker) noexcept {
  switch (worker.doing) {
    case Doing::running:
    case Doing::submitting:
      return true;
    case Doing::copying:
    case Doing::unlocking:
    case Doing::taking_back:
      return worker.queue.owned() > 0;
    default:
      return false;
  }
}

bool StealRun::is_stuck() const noexcept {
  return busy_ == 0 && futile_rounds_ > patience * workers_.size();
}

char const* StealRun::name_of(Doing doing) noexcept {
  switch (doing) {
    case Doing::nothing:
      return "nothing";
    case Doing::submitting:
      return "submitting";
    case Doing::running:
      return "running";
    case Doing::probing:
      return "probing";
    case Doing::locking:
      return "locking";
    case Doing::waiting:
      return "waiting for a lock";
    case Doing::copying:
      return "copying";
    case Doing::unlocking:
      return "unlocking";
    case Doing::taking_back:
      return "taking back";
    case Doing::resting:
      return "resting";
    case Doing::halted:
      return "halted";
  }
  return "";
}

// Workers next to each other that do the same share a line.
std::string StealRun::states() const {
  auto const text_of = [&](Worker const& w) {
    std::string text = name_of(w.doing);
    if (w.doing == Doing::waiting) text += " (worker " + std::to_string(w.victim) + "'s)";
    text += ", " + std::to_string(w.queue.owned()) + " private and " +
            std::to_string(w.queue.shared()) + " shared tasks";
    return w.locked ? text + ", locked" : text;
  };
  std::string text = "nothing can go on at " + std::to_string(seconds(events_.now()) * 1e6) +
                     " us: " + std::to_string(open_) + " tasks have not ended, " +
                     std::to_string(forest_.phases.size() - phase_) + " phases have not begun";
  for (std::size_t w = 0; w < workers_.size();) {
    auto const state = text_of(workers_[w]);
    auto last = w;
    while (last + 1 < workers_.size() && text_of(workers_[last + 1]) == state) ++last;
    text += "\n  worker " + std::to_string(w);
    if (last > w) text += ".." + std::to_string(last);
    text += ": " + state;
    w = last + 1;
  }
  return text;
}

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
