// SPDX-License-Identifier: Apache-2.0
#include "cluster/agent.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/assert.hpp"

namespace nigh::cluster {

namespace {

constexpr std::int64_t worker_polls_after_ns = 20'000;
// The thread in run() looks each 100 us (and some 50 us late, as Linux's timers are), and polls
// unless somebody just has: so nobody waits for an answer longer than some 200 us.
constexpr auto fallback_looks_every = std::chrono::microseconds(100);
constexpr auto fallback_polls_after = std::chrono::microseconds(50);
constexpr int messages_per_turn = 64;  // then others get a chance to send

constexpr Token root_token = ~Token{0} >> 1;
constexpr Token free_token = root_token - 1;  // nobody waits for its result

// The place of a task in its owner's stacks.
Token token_of(std::uint32_t seat, std::uint32_t slot) noexcept { return Token{seat} << 32 | slot; }

std::int64_t now_ns() noexcept {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

bool is_cluster_task(nigh::detail::task_slot const& slot) noexcept {
  return slot.call == &detail::run_cluster_task || slot.call == &detail::run_cluster_task_at_depth;
}

detail::function const& function_in(nigh::detail::task_slot const& slot) noexcept {
  detail::function const* f;
  std::memcpy(&f, slot.closure, sizeof f);
  return *f;
}

bytes result_message(std::uint32_t run, Task const& task, Outcome const& outcome) {
  Writer w;
  w.put(Header{Kind::result, 0, 1, run});
  w.put(ResultHead{task.token, outcome.rank, outcome.failed ? 1u : 0u});
  w.put(byte_view(outcome.output));
  return w.take();
}

// Who asks for more workers than its share has gets them on cpus that it shares.
runtime_options on_its_cpus(runtime_options options, Layout const& layout) {
  auto const& given = layout.places[static_cast<std::size_t>(layout.self)].cpus;
  if (!options.cpus.empty()) return options;
  auto share = share_of_cpus(layout);
  auto const wanted = static_cast<std::size_t>(std::max(options.workers, 0));
  if (wanted > share.size() && wanted <= given.size()) {
    auto const first = std::find(given.begin(), given.end(), share.front()) - given.begin();
    share = given;
    std::rotate(share.begin(), share.begin() + first, share.end());
  }
  options.cpus = share;
  return options;
}

// Collective. Where nobody can tell how to watch, all end, code 2.
std::unique_ptr<Watch> watch_over(Transport& network) {
  auto const exchange = [&](byte_view mine) {
    bytes all;
    for (auto const& one : network.gather(mine)) all.insert(all.end(), one.begin(), one.end());
    return all;
  };
  auto watch = Watch::start(network.rank(), network.ranks(), exchange);
  if (watch) return std::move(*watch);
  if (network.rank() == 0) std::fprintf(stderr, "nigh: %s\n", watch.message().c_str());
  network.finish();
  std::exit(2);
}

EnginePolicies policies_of(session_options const& options) {
  EnginePolicies p;
  p.victims = options.victims;
  p.chunks = options.chunks;
  p.has_free_tasks = has_free_tasks();
  return p;
}

std::size_t this_seat() noexcept {
  return static_cast<std::size_t>(nigh::detail::this_stack->worker->seat);
}

}  // namespace

sync::atomic<Agent*> agent{nullptr};

Agent::Agent(std::unique_ptr<Transport> network, session_options const& options)
    : network_(std::move(network)),
      functions_(close_functions()),
      layout_(meet(*network_, this_place(options.workers), options, names_of(functions_))),
      watch_(watch_over(*network_)),
      funneled_(network_->is_funneled()),
      engine_(plan_among_ranks(layout_), policies_of(options), *this, *network_),
      placed_(ranks(), options.queue_capacity),
      workers_(on_its_cpus(options.workers, layout_), *this) {
  free_tasks_ = std::make_unique<FreeTasks[]>(scheduler().seats());
}

Agent::~Agent() {
  {
    std::lock_guard const guard(lock_);
    network_->finish();
  }
  watch_->leave();
  open_functions();
}

rank_counters Agent::counters() {
  std::lock_guard const guard(lock_);
  auto c = engine_.counters();
  c.tasks_placed = placed_.count();
  c.placed_inline = placed_.refused();
  return c;
}

// ---- messages

void Agent::poll() noexcept {
  for (bool again = true; again;) {
    if (!lock_.try_lock()) return;
    again = running_;
    if (running_) turn();
    lock_.unlock();
    again = again && !outbox_.is_empty();  // who put something there found the lock taken
  }
}

void Agent::turn() noexcept {
  outbox_.empty_into(engine_);
  auto now = now_ns();
  for (int i = 0; i < messages_per_turn; ++i) {
    auto const arrived = network_->receive();
    if (arrived.from < 0) break;
    engine_.receive(arrived.from, arrived.message, now);
  }
  engine_.tick(now);
  last_poll_ns_.store(now, sync::relaxed);
  if (engine_.is_over()) {
    {
      std::lock_guard const guard(over_lock_);
      is_over_ = true;
    }
    over_.notify_one();
  }
}

void Agent::between_tasks(std::int64_t now) noexcept {
  if (!funneled_ && now - last_poll_ns_.load(sync::relaxed) > worker_polls_after_ns) poll();
}

// ---- runs

bytes Agent::run(detail::function const& f, bytes input) {
  auto const* const here = nigh::detail::this_stack->worker;
  if (here != nullptr && &here->host == &scheduler())
    throw std::logic_error("nigh::cluster::run called from inside a task");
  {
    std::lock_guard const guard(lock_);
    is_over_ = false;
    engine_.begin();
    running_ = true;
    last_poll_ns_.store(now_ns(), sync::relaxed);
  }
  if (rank() == 0)
    put({std::make_unique<Task>(Task{f.id, 0, root_token, true, std::move(input)}), {}});
  for (std::unique_lock guard(over_lock_); !is_over_;) {
    over_.wait_for(guard, fallback_looks_every);
    if (is_over_) break;
    guard.unlock();
    auto const idle_ns = now_ns() - last_poll_ns_.load(sync::relaxed);
    if (funneled_ || std::chrono::nanoseconds(idle_ns) >= fallback_polls_after) poll();
    guard.lock();
  }
  Outcome root;
  {
    std::lock_guard const guard(lock_);
    running_ = false;
    root = engine_.take_outcome();
  }
  if (root.failed)
    throw remote_error(
        std::string(reinterpret_cast<char const*>(root.output.data()), root.output.size()),
        root.rank);
  return std::move(root.output);
}

bool Agent::place(int to, detail::placed const& task, byte_view input) {
  if (to == rank() || to < 0 || to >= ranks()) return false;
  auto const token = placed_.add(to, task);
  if (!token) return false;
  Writer w;
  w.put(Header{Kind::placed, 0, 1, engine_.run()});
  w.put(TaskHead{task.what->id, rank(), *token, input.size()});
  w.put(input);
  outbox_.put(to, w.take());
  if (!funneled_) poll();
  return true;
}

// ---- what workers do with tasks of other ranks

void Agent::put(Inbox::Item item) {
  inbox_.put(std::move(item));
  scheduler().call_workers();
}

bool Agent::find(nigh::detail::task& t) noexcept {
  Inbox::Item item;
  if (!inbox_.take(item)) {
    if (!funneled_) poll();
    if (!inbox_.take(item)) return false;
  }
  if (item.task == nullptr) {
    t = item.here;
    return true;
  }
  t = nigh::detail::make_task(
      [this, task = item.task.release()] { run_task(std::unique_ptr<Task>(task)); });
  return true;
}

void Agent::run_task(std::unique_ptr<Task> task) noexcept {
  Outcome outcome;
  outcome.rank = rank();
  auto const fails = [&](std::string_view what) {
    outcome.failed = true;
    auto const raw = std::as_bytes(std::span(what));
    outcome.output.assign(raw.begin(), raw.end());
  };
  try {
    functions_[task->function]->run_packed(task->input, outcome.output);
  } catch (std::exception const& e) {
    fails(e.what());
  } catch (...) {
    fails("something that is no std::exception");
  }
  if (task->token == free_token)
    outcome.failed ? outbox_.put_failure(std::move(outcome)) : end_free_task();
  else if (task->token == root_token && task->owner == rank())
    outbox_.put_root(std::move(outcome));
  else if (task->owner == rank())
    return deliver(task->token, {outcome.failed, outcome.rank, outcome.output});
  else
    outbox_.put(task->owner, result_message(engine_.run(), *task, outcome));
  if (!funneled_) poll();
}

// ---- Engine::Host

bool Agent::is_hungry() { return inbox_.is_empty() && scheduler().has_idle_workers(); }

void Agent::take(Task task) { put({std::make_unique<Task>(std::move(task)), {}}); }

std::uint16_t Agent::give(Writer& to, Chunk const& chunk) {
  auto const from_inbox = inbox_.give(chunk, [&](Task const& t) { put_task(to, t); });
  if (from_inbox > 0) return static_cast<std::uint16_t>(from_inbox);
  nigh::detail::scheduler::Taken taken;
  if (!scheduler().take_for_outside(taken, chunk)) return 0;
  std::uint16_t given = 0;
  for (std::uint32_t i = 0; i < taken.tasks.count; ++i) {
    auto& slot = taken.tasks.first[i];
    if (give_slot(to, *taken.victim, slot))
      ++given;
    else
      put({nullptr, nigh::detail::scheduler::run_here_after_all(*taken.victim, slot)});
  }
  return given;
}

// False: what waits there is no cluster task, or one that only this rank knows.
bool Agent::give_slot(Writer& to, nigh::detail::scheduler::Worker& victim,
                      nigh::detail::task_slot& slot) {
  if (!is_cluster_task(slot)) return false;
  auto const& f = function_in(slot);
  if (f.id == detail::function::unknown || f.is_late) return false;
  auto const input_bytes = f.input_bytes(slot);
  bool const is_free = slot.object == nullptr;
  auto const token =
      is_free ? free_token
              : token_of(static_cast<std::uint32_t>(victim.seat), victim.stack.index(&slot));
  to.put(TaskHead{f.id, rank(), token, input_bytes});
  f.pack(slot, to.room(input_bytes));
  if (is_free) {  // it is the thief's from now on
    f.drop(slot);
    scheduler().finish_outside(victim, slot);
  }
  return true;
}

void Agent::deliver(Token token, detail::outcome const& what) {
  if (PlacedTasks::owns(token)) {
    auto const task = placed_.remove(token);
    return detail::end_placed(task, what);
  }
  auto& victim = scheduler().seat(static_cast<std::uint32_t>(token >> 32));
  auto& slot = victim.stack.slots[static_cast<std::uint32_t>(token)];
  function_in(slot).deliver(slot, what);
  scheduler().finish_outside(victim, slot);
}

// ---- free tasks

void Agent::begin_free_task() noexcept {
  auto& count = free_tasks_[this_seat()].created;
  count.store(count.load(sync::relaxed) + 1, sync::release);
}

void Agent::end_free_task() noexcept {
  auto& count = free_tasks_[this_seat()].finished;
  count.store(count.load(sync::relaxed) + 1, sync::release);
}

void Agent::fail_free_task(std::exception_ptr e) noexcept {
  Outcome outcome{true, rank(), {}};
  auto const says = [&](std::string_view what) {
    auto const raw = std::as_bytes(std::span(what));
    outcome.output.assign(raw.begin(), raw.end());
  };
  try {
    std::rethrow_exception(e);
  } catch (std::exception const& thrown) {
    says(thrown.what());
  } catch (...) {
    says("something that is no std::exception");
  }
  outbox_.put_failure(std::move(outcome));
}

TaskCounts Agent::free_tasks() {
  TaskCounts sum;
  for (std::size_t s = 0; s < scheduler().seats(); ++s)
    sum.finished += free_tasks_[s].finished.load(sync::acquire);
  for (std::size_t s = 0; s < scheduler().seats(); ++s)
    sum.created += free_tasks_[s].created.load(sync::acquire);
  return sum;
}

}  // namespace nigh::cluster
