// SPDX-License-Identifier: Apache-2.0
#include "cluster/engine.hpp"

#include <span>
#include <string_view>
#include <utility>

namespace nigh::cluster {

Engine::Engine(policy::VictimPlan plan, EnginePolicies policies, Tasks& tasks, Transport& network,
               HostSegments segments)
    : plan_(std::move(plan)),
      policies_(policies),
      tasks_(tasks),
      network_(network),
      search_(plan_, {policies.victims, policies.rest, policies.seed, policies.soon_ns}),
      shared_(std::move(segments), {policies.rings, policies.soon_ns}),
      end_(plan_.self, plan_.workers, policies.has_free_tasks),
      membership_(plan_.self, plan_.workers, policies.supervised, policies.silence_ns,
                  policies.spares),
      verdicts_(plan_.workers),
      checkpoints_(plan_.self, policy::workers_of_host(plan_), {policies.supervised, policies.pieces}) {
  lead_lifelines();
  if (!policies_.supervised) return;
  NIGH_ASSERT(!policies_.has_free_tasks, "nobody keeps a copy of a free task");
  NIGH_ASSERT(!shared_.is_used(), "nobody knows which rank took a task from a shared queue");
  supervision_.emplace(plan_.self);
}

void Engine::begin() {
  shown_run_.store(++run_, sync::relaxed);
  verdicts_.has_begun(plan_.self, run_);
  search_.begin_run();
  shared_.begin_run(run_);
  lifelines_.begin_run();
  end_.begin_run();
  end_if_a_rank_is_missing();
  for (auto& early : std::exchange(early_, {}))
    if (early.run == run_)
      tasks_.take(std::move(early.task));
    else
      early_.push_back(std::move(early));
}

void Engine::tick(std::int64_t now_ns) {
  listen(now_ns);
  if (policies_.has_free_tasks) count_free_tasks();
  give_back();
  feed_lifelines();
  if (shared_.is_used() && steal_in_shared_memory(now_ns)) return;
  ask_for_tasks(now_ns);
}

void Engine::receive(int from, byte_view message, std::int64_t now_ns) {
  if (membership_.is_lost(from)) return;
  membership_.heard(from);
  Reader reader(message);
  auto const header = reader.get<Header>();
  switch (header.kind) {
    case Kind::steal:
      return answer(from, header);
    case Kind::tasks:
      search_.is_answered();
      if (header.count == 0) {
        ++counters_.steals_failed;
        return fails(now_ns);
      }
      search_.succeeds();
      counters_.tasks_stolen += header.count;
      return take_tasks(header, reader);
    case Kind::placed:
      lifelines_.wake();
      return take_tasks(header, reader);
    case Kind::lifeline:
      return lifelines_.hang(from, header.run);
    case Kind::fed:
      if (header.run == run_) lifelines_.is_used(from);
      search_.succeeds();
      counters_.tasks_stolen += header.count;
      return take_tasks(header, reader);
    case Kind::result: {
      auto const head = reader.get<ResultHead>();
      return take_result(head, reader.rest());
    }
    case Kind::stop:
      if (supervision_ && header.run <= end_.last_over()) return;  // a new root says it again
      pass_on_end(message);
      return end_run(header.run, get_outcome(reader));
    case Kind::failed: {
      auto outcome = get_outcome(reader);
      outcome.failed = true;
      return fail(outcome);
    }
    case Kind::wave:
      return send_waves(end_.received(from, reader.get<TerminationMessage>()));
    case Kind::beat: {
      verdicts_.has_begun(from, header.run);
      auto const needed = reader.get<std::uint32_t>();
      if (from == membership_.root()) verdicts_.forget_before(needed);
      [[fallthrough]];  // a rank may have been lost when it had told some ranks the size, and not others
    }
    case Kind::size:
      if (membership_.take_size(reader.get<SessionSize>())) has_resized();
      return;
    case Kind::silent: {
      auto const rank = reader.get<std::int32_t>();
      if (rank != plan_.self) return leave(rank, now_ns);
      return notices_.push_back({Notice::What::was_left, membership_.root()});
    }
    case Kind::parts:
      membership_.parts(from, header.run);
      return end_if_a_rank_is_missing();
    case Kind::checkpoint:
      checkpoints_.receive(from, reader);
      return send_about_checkpoints();
  }
  NIGH_ASSERT(false, "a message has a known kind");
}

void Engine::send(int to, byte_view message) {
  if (supervision_ || membership_.has_spares()) {
    auto const header = Reader(message).get<Header>();
    if (header.kind == Kind::placed) return place(to, message);
  }
  if (supervision_) {
    auto const header = Reader(message).get<Header>();
    // Of a task that a lost rank had begun: nobody waits for it, and the network may be finished.
    if (header.kind == Kind::result && membership_.has_parted()) return;
    // Such a task may have failed because its run is over: its owner must know that first.
    if (header.kind == Kind::result && header.run <= end_.last_over()) tell_verdicts(to);
  }
  send_now(to, message);
}

void Engine::send_now(int to, byte_view message) {
  if (membership_.is_lost(to)) return;
  ++counters_.messages_sent;
  counters_.bytes_sent += message.size();
  network_.send(to, message);
}

// ---- a steal: the thief asks, the victim answers, the thief takes

void Engine::ask_for_tasks(std::int64_t now_ns) {
  for (int tried = 0; tried < plan_.attempts_per_round; ++tried) {
    if (!search_.may_ask(now_ns) || !wants_tasks()) return;
    int const victim = search_.next_victim();
    if (!membership_.works(victim)) {
      fails(now_ns);
      continue;
    }
    if (shared_.reaches(victim) && !must_be_asked(victim, now_ns)) continue;
    search_.asks(victim, now_ns);
    ++counters_.steals_asked;
    send(victim, message(Kind::steal));
  }
}

// A rank that sleeps on its lifelines wakes when its workers have had tasks.
bool Engine::wants_tasks() {
  bool const is_hungry = tasks_.is_hungry();
  if (!is_hungry) lifelines_.wake();
  return is_hungry && !lifelines_.is_asleep() && works();
}

void Engine::fails(std::int64_t now_ns) {
  bool const round_is_over = search_.fails(now_ns);
  if (!round_is_over || !lifelines_.are_used()) return;
  for (int const buddy : lifelines_.sleep()) send(buddy, message(Kind::lifeline));
}

// A thief in another run gets nothing: the tasks that wait here belong to this run.
void Engine::answer(int thief, Header const& request) {
  if (request.run == run_ && !is_closed()) return send(thief, give(thief, Kind::tasks));
  writer_.clear();
  writer_.put(Header{Kind::tasks, 0, 0, request.run});
  send(thief, writer_.view());
}

// A message of that kind with tasks for the thief, as many as it should get.
byte_view Engine::give(int thief, Kind kind) {
  message(kind);
  Header header{kind, 0, 0, run_};
  header.count = tasks_.give(writer_, chunk_for(thief));
  writer_.set(header);
  if (supervision_ && header.count > 0) {
    auto const away = supervision_->keep_all(thief, writer_.view());
    writer_.clear();
    writer_.put(byte_view(away));
  }
  counters_.tasks_given += header.count;
  return writer_.view();
}

// Tasks of a run that is over here are taken, too: a new root may not know yet that it is over, and
// waits for them.
void Engine::take_tasks(Header const& header, Reader& from) {
  for (int i = 0; i < header.count; ++i) {
    auto task = get_task(from);
    if (i == 0 && header.kind != Kind::placed) task.came_with = header.count;
    if (header.run > run_)
      early_.push_back({header.run, std::move(task)});
    else
      tasks_.take(std::move(task));
  }
}

// Waiting tasks go to ranks with a lifeline to this one before any rank asks. Tasks that its own
// workers are about to take do not, or few tasks would go round and round.
void Engine::feed_lifelines() {
  while (tasks_.is_busy() && !is_closed()) {
    int const thief = lifelines_.first_hanging(run_);
    if (thief == Lifelines::nobody) return;
    auto const tasks = give(thief, Kind::fed);
    if (Reader(tasks).get<Header>().count == 0) return;
    lifelines_.let_go(thief);
    send(thief, tasks);
  }
}

Chunk Engine::chunk_for(int thief) const {
  return cluster::chunk_for(thief, plan_, policies_.chunks, policies_.fixed_chunk);
}

// ---- a steal in shared memory

bool Engine::steal_in_shared_memory(std::int64_t now_ns) {
  bool const is_hungry = tasks_.is_hungry();
  shared_.look(is_hungry);
  if (!is_hungry) {
    offer();
    return false;
  }
  auto const back =
      shared_.take_back({policies_.chunks, level::cpu, plan_.topmost, policies_.fixed_chunk});
  for (std::size_t i = 0; i < back.count; ++i) tasks_.take(back.tasks[i].task());
  counters_.tasks_given -= back.count;
  if (back.count > 0) return true;
  if (!works()) return false;
  for (auto const& asked : shared_.asked())
    if (steal_from(asked.rank)) return true;
  for (int const rank : shared_.to_ring(now_ns)) notices_.push_back({Notice::What::ring, rank});
  return false;
}

// A rank without work is no reason to wait.
bool Engine::must_be_asked(int rank, std::int64_t now_ns) {
  if (steal_from(rank)) return false;
  auto const next = shared_.ask(rank, now_ns);
  if (next == SharedStealing::Next::ask_by_message) return true;
  fails(now_ns);
  if (next == SharedStealing::Next::wait)
    search_.rest_at_least_until(now_ns + policies_.patience_ns);
  return false;
}

bool Engine::steal_from(int rank) {
  auto const stolen = shared_.steal(rank, chunk_for(rank));
  if (stolen.count == 0) return false;
  for (std::size_t i = 0; i < stolen.count; ++i) {
    auto task = stolen.tasks[i].task();
    if (i == 0) task.came_with = static_cast<std::uint16_t>(stolen.count);
    tasks_.take(std::move(task));
  }
  ++counters_.window_steals;
  counters_.window_tasks += stolen.count;
  counters_.tasks_stolen += stolen.count;
  search_.succeeds();
  lifelines_.wake();
  return true;
}

// Tasks that do not go into the queue wait until a message asks for them.
void Engine::offer() {
  if (!shared_.takes_request()) return;
  writer_.clear();
  auto const n = tasks_.give(writer_, chunk_for(nearest_on_host()));
  Reader tasks(writer_.view());
  std::size_t put = 0;
  for (int i = 0; i < n; ++i) {
    auto task = get_task(tasks);
    if (shared_.put(task))
      ++put;
    else
      tasks_.take(std::move(task));
  }
  counters_.tasks_given += put;
  shared_.has_put(put, put < n);
}

int Engine::nearest_on_host() const {
  for (auto const& there : plan_.levels)
    for (int const rank : there.victims)
      if (shared_.reaches(rank)) return rank;
  return plan_.self;
}

// ---- results, and copies of tasks whose results are not back

void Engine::take_result(ResultHead head, byte_view output) {
  if (!supervision_) return tasks_.deliver(head.token, {head.failed != 0, head.rank, output});
  auto const task = supervision_->result_of(head.token);
  if (!task) return;
  if (task->owner == plan_.self)
    return tasks_.deliver(task->token, {head.failed != 0, head.rank, output});
  head.token = task->token;
  if (head.failed != 0) tell_verdicts(task->owner);  // as in send(): it may have failed for one
  send_now(task->owner, message(Kind::result, head, output));
}

void Engine::place(int to, byte_view message) {
  if (!membership_.works(to) || is_closed()) {
    Reader reader(message);
    static_cast<void>(reader.get<Header>());
    return tasks_.take(get_task(reader));
  }
  if (!supervision_) return send_now(to, message);
  send_now(to, supervision_->keep_all(to, message));
}

// ---- the end of a run

void Engine::end_root(Outcome root, std::uint32_t run) {
  if (run != run_ || is_closed()) return;
  end_.root_has_ended(std::move(root));
  tell_end();
}

void Engine::fail(Outcome const& what) {
  if (membership_.is_root()) return end_.free_task_has_failed(what);
  send(membership_.root(),
       message(Kind::failed, ResultHead{0, what.rank, 1}, byte_view(what.output)));
}

void Engine::count_free_tasks() {
  if (end_.wants_counts()) send_waves(end_.look(tasks_.free_tasks(), tasks_.is_hungry()));
  tell_end();
}

void Engine::send_waves(std::vector<Termination::Send> const& waves) {
  for (auto const& wave : waves) send(wave.to, message(Kind::wave, wave.message));
}

void Engine::tell_end() {
  auto verdict = end_.verdict();
  if (!verdict) return;
  message(Kind::stop);
  put_outcome(writer_, *verdict, verdict->function);
  pass_on_end(writer_.view());
  end_run(run_, std::move(*verdict));
}

// A binomial tree with rank 0 at its root: each rank tells those that differ from it in one bit
// above its own highest. Where ranks may be lost, the root alone tells all, and each keeps what it
// was told: if the root is lost meanwhile its successor tells all again.
void Engine::pass_on_end(byte_view stop_message) {
  if (supervision_) {
    verdicts_.keep(Reader(stop_message).get<Header>().run, stop_message);
    if (!membership_.is_root()) return;
    for (int const to : membership_.others()) send_now(to, stop_message);
    return;
  }
  for (int step = 1; step < plan_.workers; step *= 2)
    if (step > plan_.self && plan_.self + step < plan_.workers)
      send(plan_.self + step, stop_message);
}

// This rank's own tasks that are elsewhere were spawned for a rank that is lost. Nobody waits for
// their results: they fail, and so end.
void Engine::end_run(std::uint32_t run, Outcome outcome) {
  end_.is_over_with(run, std::move(outcome));
  if (!supervision_) return;
  std::string_view const says = "the run is over";
  for (auto const& task : supervision_->release_own())
    tasks_.deliver(task.token, {true, plan_.self, std::as_bytes(std::span(says))});
  checkpoints_.end_calls();
}

// ---- spare ranks: they take part in every run, ask for no tasks, and get none

void Engine::resize(int ranks) {
  if (ranks == membership_.size().ranks) return;
  membership_.resize(ranks);
  for (int const to : membership_.others()) send_now(to, message(Kind::size, membership_.size()));
  has_resized();
}

void Engine::has_resized() {
  for (int const rank : membership_.others())
    if (!membership_.works(rank)) lifelines_.let_go(rank);
  lead_lifelines();
}

void Engine::lead_lifelines() {
  if (!policies_.has_lifelines) return;
  lifelines_.lead_through(works() ? membership_.working() : std::vector{plan_.self}, plan_.self);
}

// A spare rank passes on all tasks that it has not begun, its own among them, to each working rank in
// turn: those that have come on its way out of work, and those that its last tasks spawn. They go
// to lower ranks only, whatever ranks believe about losses and sizes meanwhile; so they do not go
// round, and the lowest rank that is left works in its own eyes.
void Engine::give_back() {
  if (works() || is_closed()) return;
  auto const working = membership_.working();
  while (true)
    for (int const to : working) {
      auto const tasks = give(to, Kind::fed);
      if (Reader(tasks).get<Header>().count == 0) return;
      send_now(to, tasks);
    }
}

// ---- ranks that are lost, silent, or parting

bool Engine::lose(int rank, std::int64_t now_ns) {
  NIGH_ASSERT(supervision_ && rank != plan_.self, "a rank that is lost can be replaced");
  bool const was_root = rank == membership_.root();
  if (!membership_.lose(rank)) return false;
  ++counters_.ranks_lost;
  std::erase_if(early_, [&](Early const& e) { return e.task.owner == rank; });
  tasks_.forget(rank);
  auto again = supervision_->lose(rank, [&](int r) { return membership_.is_lost(r); });
  counters_.tasks_run_again += again.size();
  for (auto& task : again) {
    task.is_again = true;
    tasks_.take(std::move(task));
  }
  lifelines_.let_go(rank);
  if (search_.asked() == rank) {
    search_.is_answered();
    fails(now_ns);
  }
  lead_lifelines();
  checkpoints_.lose(rank);
  send_about_checkpoints();
  if (was_root && membership_.is_root())
    succeed();
  else if (was_root)
    tell_verdicts(membership_.root());
  return true;
}

// The lost root may have told some ranks that a run is over, and not others: they tell each other by
// the new root. If the run is not over it goes on from its beginning. All that the lost root had of
// it is lost: its tasks elsewhere have no owner any more.
void Engine::succeed() {
  for (int const to : membership_.others()) tell_verdicts(to);
  if (has_root()) notices_.push_back({Notice::What::is_root, plan_.self});
}

void Engine::tell_verdicts(int to) {
  for (auto const& verdict : verdicts_.kept()) send_now(to, verdict.message);
}

void Engine::leave(int rank, std::int64_t now_ns) {
  if (!lose(rank, now_ns)) return;
  network_.leave(rank);
  notices_.push_back({Notice::What::left_silent, rank});
}

void Engine::beat() {
  if (!membership_.must_beat()) return;
  std::uint32_t needed = 0;
  if (membership_.is_root()) {
    needed = verdicts_.first_needed(membership_.left());
    verdicts_.forget_before(needed);
  }
  for (int const to : membership_.listeners_to_beats())
    send_now(to, message(Kind::beat, needed, membership_.size()));
}

void Engine::listen(std::int64_t now_ns) {
  for (int const silent : membership_.listen(now_ns)) {
    tell(membership_.others(), Kind::silent, silent);
    leave(silent, now_ns);
  }
  if (membership_.is_cut_off())
    notices_.push_back({Notice::What::root_is_silent, membership_.root()});
}

void Engine::part() {
  membership_.parts(plan_.self, run_);
  tell(supervision_ ? membership_.others() : membership_.listeners(), Kind::parts, plan_.self);
}

void Engine::end_if_a_rank_is_missing() {
  if (auto const missing = membership_.missing_in(run_))
    notices_.push_back({Notice::What::has_parted, *missing});
}

void Engine::tell(std::vector<int> const& ranks, Kind kind, std::int32_t about) {
  for (int const to : ranks) send_now(to, message(kind, about));
}

}  // namespace nigh::cluster
