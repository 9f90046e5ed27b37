// SPDX-License-Identifier: Apache-2.0
#include "cluster/agent.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "cluster/checkpoint_call.hpp"
#include "cluster/functions.hpp"
#include "cluster/joining.hpp"
#include "platform/ending_signals.hpp"
#include "platform/exact_timers.hpp"
#include "platform/last_words.hpp"
#include "platform/program.hpp"

namespace nigh::cluster {
namespace {

// A thief waits for a task's length, at most 20 us, some of which the answer takes.
constexpr std::int64_t worker_polls_after_ns = 15'000;
// Tasks of lost ranks on a thread's stack, each within the one before. A rank may have had many,
// but the next rank may be lost soon, and the first of its tasks should not wait for these.
constexpr int most_nested = 4;
constexpr int messages_per_turn = 64;  // then others get a chance to send

// For the last messages of a process that has ended to come in. A rank that was stopped must read
// that the others went on without it before it hears that they ended.
constexpr auto last_messages_take = std::chrono::milliseconds(3);

// Sections of this thread, each within the one before, and whose lock the first one holds.
constinit thread_local int sections = 0;
constinit thread_local Agent* held = nullptr;

// Threads that are in a section or wait for the lock, and the ends of sessions.
std::mutex doorway;
std::condition_variable nobody_inside;
int inside = 0;  // under doorway

constexpr std::int64_t most_for_the_rest_ns = 2'000'000'000;  // see send_the_rest()

using base::now_ns;

}  // namespace

constinit base::Published<Agent> agent;

// ---- a worker looks for tasks, and runs those that have come

bool Agent::find(nigh::detail::task& t) noexcept {
  if (next_task(t)) return true;
  if (!funneled_) poll();
  return next_task(t);
}

bool Agent::next_task(nigh::detail::task& t) noexcept {
  Inbox::Item item;
  if (!tasks_.next(item)) return false;
  t = item.task == nullptr ? item.here : runnable(std::move(item.task));
  return true;
}

nigh::detail::task Agent::runnable(std::unique_ptr<Task> task) noexcept {
  auto& trace = nigh::detail::this_stack->worker->trace;
  if (task->came_with > 0) trace.stole(task->owner, level::cluster, task->came_with);
  return nigh::detail::make_task([this, raw = task.release()] {
    if (tasks_.run(std::unique_ptr<Task>(raw), engine_.run()) && !funneled_) poll();
  });
}

void Agent::misses_one() noexcept {
  bool const is_soon = expects_tasks_.load(sync::relaxed);
  lookout_.call_from_more_than(is_soon ? Lookout::brief_sleep : Lookout::short_sleep);
}

void Agent::between_tasks(std::int64_t now) noexcept {
  bool const is_time = now - last_poll_ns_.load(sync::relaxed) > worker_polls_after_ns;
  if (!funneled_ && (is_time || engine_.is_called())) poll();
  if (tasks_.has_urgent()) [[unlikely]]
    nest_an_urgent_task();
}

// A root task that begins anew is not counted: it does not end before the run, and below it lie
// tasks that it makes useless.
void Agent::nest_an_urgent_task() noexcept {
  static thread_local int nested = 0;
  auto* const me = nigh::detail::this_stack->worker;
  Inbox::Item item;
  if (nested == most_nested || me == nullptr || !is_of(me->pool) || !me->may_nest()) return;
  if (!tasks_.next_urgent(item)) return;
  int const before = nested;
  nested = item.task->token == root_token ? 0 : before + 1;
  auto t = runnable(std::move(item.task));
  me->nest(t);
  nested = before;
}

bool Agent::place(int to, detail::placed const& task, byte_view input) {
  if (to == rank() || to < 0 || to >= ranks()) return false;
  if (!tasks_.place(to, task, input, engine_.run())) return false;
  if (!funneled_) poll();
  return true;
}

void Agent::checkpoint(CheckpointCall& call) {
  if (sections > 0)
    throw std::logic_error("checkpoint \"" + call.name + "\": called inside an mpi_section");
  tasks_.outbox().put_call(call);
  if (!funneled_) poll();
  call.caller->await_zero(call.pending);
}

// ---- polling: messages in, the engine's tick, messages out

void Agent::poll() noexcept {
  for (bool again = true; again;) {
    if (!lock_.try_lock_in_order()) return;
    again = is_in_run() || is_supervised_;
    if (is_in_run())
      turn();
    else if (is_supervised_)
      empty_outbox();
    lock_.unlock_in_order();
    // A thread that adds may have found the lock taken (lock.S).
    again = again && !tasks_.outbox().is_empty();
  }
}

void Agent::turn() noexcept {
  empty_outbox();
  auto const now = now_ns();
  if (wanted_size_.load(sync::relaxed) != 0) [[unlikely]]
    engine_.resize(wanted_size_.exchange(0, sync::relaxed));
  receive_some(now);
  engine_.tick(now);
  is_spare_.store(!engine_.works(), sync::relaxed);
  heed_notices();
  last_poll_ns_.store(now, sync::relaxed);
  is_moving_.store(network_->is_moving(), sync::relaxed);
  expects_tasks_.store(engine_.expects_tasks(now), sync::relaxed);
  if (engine_.is_over()) {
    is_over_.store(true, sync::relaxed);  // (lookout.C)
    lookout_.call();
  }
}

void Agent::receive_some(std::int64_t now) noexcept {
  bool has_read_all = false;
  for (int i = 0; i < messages_per_turn && !has_read_all; ++i) {
    auto const arrived = network_->receive();
    has_read_all = arrived.from < 0;
    if (!has_read_all) engine_.receive(arrived.from, arrived.message, now);
  }
  for (int const from : network_->heard()) engine_.hear(from);
  if (is_supervised_) hear_of_losses(now, has_read_all);
}

void Agent::empty_outbox() noexcept {
  if (tasks_.outbox().is_empty()) return;
  auto contents = tasks_.outbox().take_all();
  for (auto const& [to, message] : contents.messages) engine_.send(to, message);
  for (auto const& failure : contents.failures) engine_.fail(failure);
  for (auto* const call : contents.calls)
    engine_.checkpoint([&](Checkpoints& checkpoints) { call->begin(checkpoints); });
  end_calls();
  if (contents.root) engine_.end_root(std::move(*contents.root), contents.root_run);
}

void Agent::end_calls() noexcept {
  for (auto& finished : engine_.take_finished()) CheckpointCall::end(std::move(finished));
}

// ---- ranks that are lost, silent, or parting

void Agent::heed_notices() noexcept {
  using What = Engine::Notice::What;
  end_calls();
  for (auto const& notice : engine_.take_notices()) {
    if (notice.what == What::ring) {
      Lookout::call(engine_.segments().at(notice.rank).bell);
    } else if (notice.what == What::is_root) {
      if (is_in_run() && engine_.has_root())
        tasks_.add_root(*root_, root_input_, engine_.run(), true);
    } else if (notice.what != What::left_silent) {
      end_since(notice);
    } else if (engine_.is_root()) {
      std::fprintf(stderr, "nigh: %s has been silent for %.1f s; the others go on\n",
                   layout_.who(notice.rank).c_str(), static_cast<double>(silence_ns_) * 1e-9);
    }
  }
}

void Agent::end_since(Engine::Notice const& why) noexcept {
  using What = Engine::Notice::What;
  std::array<char, 32> seconds;
  std::snprintf(seconds.data(), seconds.size(), "%.1f s", static_cast<double>(silence_ns_) * 1e-9);
  auto const self = layout_.who(rank()), other = layout_.who(why.rank);
  std::string said;
  if (why.what == What::was_left)
    said = self + " was silent for " + seconds.data() + ", and the others went on; ";
  else if (why.what == What::root_is_silent)
    said = other + ", which has the root, and its deputy have been silent for " + seconds.data() +
           "; ";
  else if (watch_)
    watch_->end_without(why.rank);
  if (said.empty()) said = other + " has ended its session while others are in a run; ";
  platform::end_with("nigh: " + said + self + " ends\n", 1);
}

// Ranks that end their session may look as if they were lost.
void Agent::hear_of_losses(std::int64_t now, bool has_read_all) noexcept {
  auto all = network_->lost();
  if (has_read_all)
    for (int const rank : std::exchange(ended_, {})) {
      network_->leave(rank);
      all.push_back(rank);
    }
  for (int const lost : all) {
    if (engine_.lose(lost, now) && engine_.is_root() && !parts_)
      std::fprintf(stderr, "nigh: %s is lost; the others go on\n", layout_.who(lost).c_str());
  }
}

// No rank waits for ever for one that was stopped on the way here.
void Agent::part_from_the_others() noexcept {
  for (bool is_first = true;; is_first = false) {
    {
      std::lock_guard const guard(lock_);
      auto const now = now_ns();
      if (is_first) {
        parts_ = true;
        engine_.part();
      }
      receive_some(now);
      engine_.listen(now);
      heed_notices();
      if (engine_.has_parted()) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  beats_.reset();
}

// ---- the thread in run()

bytes Agent::run(detail::function const& f, bytes input) {
  auto const* const here = nigh::detail::this_stack->worker;
  if (here != nullptr && &here->pool == &scheduler().pool())
    throw std::logic_error("nigh::cluster::run called from inside a task");
  if (sections > 0) throw std::logic_error("nigh::cluster::run called inside an mpi_section");
  if (!is_of_this_process()) throw std::logic_error("nigh::cluster::run called in a child of fork()");
  bool has_root = false;
  {
    std::lock_guard const guard(lock_);
    if (is_in_run()) throw std::logic_error("nigh::cluster::run called by two threads at once");
    is_over_.store(false, sync::relaxed);
    engine_.begin();
    heed_notices();
    running_.store(true, sync::relaxed);
    last_poll_ns_.store(now_ns(), sync::relaxed);
    has_root = engine_.has_root();
    if (is_supervised_) {
      root_ = &f;
      root_input_ = input;
    }
  }
  attended_ = policy::attended_before_run(attended_, Lookout::policy);
  if (has_root) tasks_.add_root(f, std::move(input), engine_.run(), false);
  {
    platform::ExactTimers const timers;
    while (!is_over_.load(sync::relaxed)) sleep_and_look();
    send_the_rest();
  }
  Outcome root;
  {
    std::lock_guard const guard(lock_);
    running_.store(false, sync::relaxed);
    root = engine_.take_outcome();
  }
  if (is_supervised_) poll();  // for a thread that found the lock taken
  if (root.function != f.id)
    throw std::logic_error("nigh::cluster::run: " + layout_.who(rank()) + " runs " + readable_name(f) +
                           ", and the others " + readable_name(*functions_.at(root.function)));
  if (root.failed)
    throw remote_error(
        std::string(reinterpret_cast<char const*>(root.output.data()), root.output.size()),
        root.rank);
  return std::move(root.output);
}

// Others may wait for the end of the run, which is a large message, and after the run MPI goes on with it
// only when somebody calls MPI. A rank that has yet to begin its run may not take it for long.
void Agent::send_the_rest() noexcept {
  auto const until = now_ns() + most_for_the_rest_ns;
  for (;;) {
    {
      std::lock_guard const guard(lock_);
      turn();
      if (!network_->is_sending() || now_ns() > until) return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void Agent::sleep_and_look() noexcept {
  auto const calls = lookout_.calls();
  if (is_over_.load(sync::relaxed)) return;  // (lookout.C)
  bool const is_called = lookout_.sleep(calls, [&] { return how_long_to_sleep(); });
  auto const last = last_poll_ns_.load(sync::relaxed);
  bool const looks_alone = last == own_look_ns_;
  auto const since = now_ns() - last;
  bool const is_attended = policy::was_attended(looks_alone, since, Lookout::policy);
  attended_ = is_attended ? attended_ + 1 : 0;
  if (!funneled_ && !is_called && !policy::looks_itself(looks_alone, since, Lookout::policy))
    return;
  poll();
  own_look_ns_ = last_poll_ns_.load(sync::relaxed);
}

Lookout::Time Agent::how_long_to_sleep() noexcept {
  policy::Surroundings const s{.all_can_ring = all_can_ring_,
                               .is_hungry = ranks() > 1 && tasks_.is_hungry(),
                               .expects_tasks = expects_tasks_.load(sync::relaxed),
                               .is_moving = is_moving_.load(sync::relaxed),
                               .looks_alone = last_poll_ns_.load(sync::relaxed) == own_look_ns_,
                               .attended = attended_,
                               .is_spare = is_spare_.load(sync::relaxed)};
  return Lookout::Time(policy::sleep_ns(s, Lookout::policy));
}

// ---- a session's beginning and end

Agent::Agent(std::unique_ptr<Transport> network, Settings const& settings)
    : process_(platform::process_id()),
      network_(std::move(network)),
      functions_(close_functions()),
      layout_(meet(*network_, this_place(settings.options.workers), settings,
                   program_of(functions_, has_free_tasks()))),
      is_supervised_(supervises(settings.options, *network_)),
      silence_ns_(is_supervised_ ? agree_on_silence(*network_) : 0),
      watch_(is_supervised_ ? nullptr : watch_over(*network_)),
      funneled_(network_->is_funneled()),
      tasks_(rank(), ranks(), settings.options.queue_capacity, functions_),
      engine_(plan_among_ranks(layout_), policies_of(settings.options, is_supervised_, silence_ns_),
              tasks_, *network_,
              settings.options.shared_window && !is_supervised_ ? meet_segments(*network_)
                                                                : HostSegments{}),
      lookout_(engine_.segments().any() ? &engine_.segments().own().bell : nullptr),
      all_can_ring_(!funneled_ && (ranks() == 1 || engine_.segments().are_all())),
      workers_(start_workers(settings.options)) {
  tell_of_crowd(layout_);
  tasks_.attach(scheduler());
  if (!is_supervised_) return;
  std::vector<RankProcess> of_this_host;
  {
    std::lock_guard const guard(lock_);
    of_this_host = processes_of_this_host(*network_, layout_);
    network_->survive();
    platform::ignore_broken_pipes();  // a library may write to the sockets of ranks that are lost
  }
  start_beats(of_this_host);
}

void Agent::start_beats(std::span<RankProcess const> of_this_host) {
  if (silence_ns_ == 0 && of_this_host.empty()) return;
  // Outside a run nothing else sends on what is kept.
  auto const beat = [this] {
    std::lock_guard const guard(lock_);
    network_->advance();
    engine_.beat();
  };
  auto const has_ended = [this](int rank) {
    lookout_.call();
    std::this_thread::sleep_for(last_messages_take);
    {
      std::lock_guard const guard(lock_);
      ended_.push_back(rank);
    }
    lookout_.call();
  };
  auto const every_us = std::min<std::int64_t>(silence_ns_ / 10'000, 500'000);
  auto beats = Beats::start(every_us, {beat, has_ended}, of_this_host);
  if (!beats)
    platform::end_with("nigh: on " + layout_.who(rank()) + ": " + beats.message() + "\n", 2);
  beats_ = std::move(*beats);
}

// The others cannot be told to throw, too: they are at work already, and see that this rank has
// ended.
nigh::runtime Agent::start_workers(session_options const& options) {
  auto const workers = workers_of(options, *network_, layout_);
  try {
    return nigh::detail::runtime_access::made(workers, *this);
  } catch (std::exception const& e) {
    platform::end_with("nigh: on " + layout_.who(rank()) + ": " + e.what() + "\n", 2);
  }
}

// An exception ends this session, as a rule all sessions at once: run() throws everywhere. If it is
// this rank's alone the others end, and this one goes on to whoever catches it.
Agent::~Agent() {
  if (is_supervised_) part_from_the_others();
  if (watch_ && std::uncaught_exceptions() > exceptions_) watch_->spare_this_rank();
  {
    std::lock_guard const guard(lock_);
    if (!is_supervised_) engine_.part();
    auto const is_left_behind = [this] { return watch_ && watch_->is_left_behind(); };
    if (!network_->finish_unless(is_left_behind)) static_cast<void>(network_.release());
  }
  if (watch_) watch_->leave();
  open_functions();
}

bool Agent::is_of_this_process() const noexcept { return process_ == platform::process_id(); }

void Agent::resize(int ranks) {
  if (ranks < 1 || ranks > this->ranks())
    throw std::out_of_range("nigh::cluster::session::resize: " + std::to_string(ranks) + " of " +
                            std::to_string(this->ranks()) + " ranks");
  wanted_size_.store(ranks, sync::relaxed);
  lookout_.call();
}

std::unique_lock<nigh::tasks::Lock> Agent::locked() const {
  std::unique_lock guard(lock_, std::defer_lock);
  if (sections == 0) guard.lock();
  return guard;
}

// The section may wait for ranks that wait for messages of this one.
void Agent::begin_section() {
  if (sections == 0) {
    std::lock_guard const guard(doorway);
    held = agent.get();
    if (held == nullptr) return;
    ++inside;
  }
  if (sections++ > 0) return;
  held->lock_.lock();
  held->network_->hand_over();
}

void Agent::end_section() {
  if (sections == 0) return;  // it began before the session, or the session has ended inside
  if (--sections > 0) return;
  held->lock_.unlock();
  std::lock_guard const guard(doorway);
  if (--inside == 0) nobody_inside.notify_all();
}

// Those of other threads end first, those of this one now: they outlive the session.
void Agent::leave_sections() {
  sections = std::min(sections, 1);
  end_section();
  std::unique_lock guard(doorway);
  agent.set(nullptr);
  nobody_inside.wait(guard, [] { return inside == 0; });
}

void Agent::forget_sections() noexcept {
  sections = inside = 0;
  agent.set(nullptr);
}

std::vector<int> Agent::working() {
  auto const guard = locked();
  return engine_.working();
}

rank_counters Agent::counters() {
  auto const guard = locked();
  auto c = engine_.counters();
  c.tasks_placed = tasks_.placed();
  c.placed_inline = tasks_.refused();
  c.begun_again = tasks_.begun_again();
  return c;
}

}  // namespace nigh::cluster
