// SPDX-License-Identifier: Apache-2.0
#include "cluster/agent.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "base/verbose.hpp"
#include "cluster/clocks.hpp"
#include "platform/last_words.hpp"
#include "trace/rank.hpp"

namespace nigh::cluster {

namespace {

// So that whoever asks waits for a task and 20 us at most, some of which the answer takes.
constexpr std::int64_t worker_polls_after_ns = 15'000;
constexpr int messages_per_turn = 64;  // then others get a chance to send

using base::now_ns;

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

void tell_of_crowd(Layout const& layout) {
  if (layout.self != 0 || !base::is_verbose()) return;
  if (auto const note = crowd_in(layout); !note.empty())
    std::fprintf(stderr, "nigh: cluster: %s\n", note.c_str());
}

// Collective. Before any runtime is recorded.
runtime_options const& known_to_traces(Transport& network, Layout const& layout,
                                       runtime_options const& options) {
  auto const is_recorded = static_cast<std::byte>(!options.trace_file.empty());
  auto const all = network.gather(std::span(&is_recorded, 1));
  if (std::none_of(all.begin(), all.end(), [](bytes const& b) { return b[0] != std::byte{0}; }))
    return options;
  auto const& first = layout.places.front();
  bool const have_one_clock =
      std::all_of(layout.places.begin(), layout.places.end(),
                  [&](Place const& p) { return p.kernel == first.kernel; });
  auto const clock = have_one_clock ? ClockOffset{} : compare_clocks(network, now_ns);
  trace::set_rank({layout.self, network.ranks(),
                   layout.places[static_cast<std::size_t>(layout.self)].host, clock.to_rank_0_ns,
                   clock.error_ns});
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

// Whether tasks are run again when a rank is lost. Where that was asked for and cannot be, rank 0
// says so.
bool supervises(session_options const& options, Transport const& network) {
  if (!options.supervised || network.ranks() == 1) return false;
  char const* const why = has_free_tasks() ? "some are spawned free"
                          : !network.survivors_go_on()
                              ? "the MPI library lets no rank go on without the others"
                          : network.is_funneled() ? "MPI runs with MPI_THREAD_FUNNELED"
                                                  : nullptr;
  if (why != nullptr && network.rank() == 0)
    std::fprintf(stderr, "nigh: tasks are not supervised, since %s (%s): a lost rank ends all\n",
                 why, network.name().c_str());
  return why == nullptr;
}

// Collective. In nanoseconds; what rank 0 says holds for all. Where it cannot be told all end, code 2.
std::int64_t silence_of(Transport& network) {
  auto const mine = silence_of_environment();
  auto const first = network.gather(std::as_bytes(std::span(&mine, 1))).front();
  Time silence_us = 0;
  std::memcpy(&silence_us, first.data(), sizeof silence_us);
  if (silence_us >= 0) return silence_us * 1000;
  if (network.rank() == 0) std::fprintf(stderr, "nigh: %s\n", bad_silence);
  network.finish();
  std::exit(2);
}

EnginePolicies policies_of(session_options const& options, bool is_supervised,
                           std::int64_t silence_ns) {
  EnginePolicies p;
  p.victims = options.victims;
  p.chunks = options.chunks;
  p.fixed_chunk = options.fixed_chunk;
  p.has_free_tasks = has_free_tasks();
  p.has_lifelines = options.lifelines;
  p.supervised = is_supervised;
  p.silence_ns = silence_ns;
  return p;
}

}  // namespace

sync::atomic<Agent*> agent{nullptr};

Agent::Agent(std::unique_ptr<Transport> network, Settings const& settings)
    : network_(std::move(network)),
      functions_(close_functions()),
      layout_(meet(*network_, this_place(settings.options.workers), settings,
                   program_of(functions_, has_free_tasks()))),
      is_supervised_(supervises(settings.options, *network_)),
      silence_ns_(is_supervised_ ? silence_of(*network_) : 0),
      watch_(is_supervised_ ? nullptr : watch_over(*network_)),
      funneled_(network_->is_funneled()),
      engine_(plan_among_ranks(layout_), policies_of(settings.options, is_supervised_, silence_ns_), *this,
              *network_,
              settings.options.shared_window && !is_supervised_ ? meet_segments(*network_)
                                                                : HostSegments{}),
      placed_(ranks(), settings.options.queue_capacity),
      lookout_(engine_.segments().any() ? &engine_.segments().own().bell : nullptr),
      all_can_ring_(!funneled_ && (ranks() == 1 || engine_.segments().are_all())),
      workers_(start_workers(settings.options)) {
  tell_of_crowd(layout_);
  free_tasks_ = std::make_unique<FreeTasks[]>(scheduler().seats());
  if (silence_ns_ == 0) return;
  auto const every_ns = std::min<std::int64_t>(silence_ns_ / 10, 500'000'000);
  beats_.emplace(every_ns, [this] {
    std::lock_guard const guard(lock_);
    engine_.beat();
  });
}

// Others cannot be told to throw, too: they are at work already, and see that this rank has ended.
nigh::runtime Agent::start_workers(session_options const& options) {
  auto const& known = known_to_traces(*network_, layout_, options.workers);
  try {
    return {on_its_cpus(known, layout_), *this};
  } catch (std::exception const& e) {
    platform::end_with("nigh: on " + layout_.who(rank()) + ": " + e.what() + "\n", 2);
  }
}

Agent::~Agent() {
  if (beats_) part_from_the_others();
  {
    std::lock_guard const guard(lock_);
    if (!is_supervised_) engine_.part();
    network_->finish();
  }
  if (watch_) watch_->leave();
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
    again = running_ || is_supervised_;
    if (running_)
      turn();
    else if (is_supervised_)
      outbox_.empty_into(engine_);
    lock_.unlock();
    again = again && !outbox_.is_empty();  // who put something there found the lock taken
  }
}

void Agent::receive_some(std::int64_t now) noexcept {
  for (int i = 0; i < messages_per_turn; ++i) {
    auto const arrived = network_->receive();
    if (arrived.from < 0) break;
    engine_.receive(arrived.from, arrived.message, now);
  }
  if (is_supervised_) hear_of_losses(now);
}

void Agent::turn() noexcept {
  outbox_.empty_into(engine_);
  auto now = now_ns();
  receive_some(now);
  engine_.tick(now);
  last_poll_ns_.store(now, sync::relaxed);
  is_moving_.store(network_->is_moving(), sync::relaxed);
  expects_tasks_.store(engine_.expects_tasks(now), sync::relaxed);
  if (engine_.is_over()) {
    is_over_.store(true, sync::relaxed);  // (C)
    lookout_.call();
  }
}

// The root's rank cannot be replaced.
void Agent::hear_of_losses(std::int64_t now) noexcept {
  for (int const lost : network_->lost()) {
    if (lost == 0)
      platform::end_with("nigh: " + layout_.who(0) + ", which has the root, is lost; " +
                             layout_.who(rank()) + " ends\n",
                         1);
    engine_.lose(lost, now);
    if (rank() == 0)
      std::fprintf(stderr, "nigh: %s is lost; the others go on\n", layout_.who(lost).c_str());
  }
}

void Agent::leave(int silent) {
  network_->leave(silent);
  if (rank() == 0)
    std::fprintf(stderr, "nigh: %s has been silent for %.1f s; the others go on\n",
                 layout_.who(silent).c_str(), static_cast<double>(silence_ns_) * 1e-9);
}

void Agent::has_to_end(End why, int because_of) {
  std::array<char, 32> seconds;
  std::snprintf(seconds.data(), seconds.size(), "%.1f s", static_cast<double>(silence_ns_) * 1e-9);
  auto const self = layout_.who(rank()), other = layout_.who(because_of);
  std::string said;
  switch (why) {
    case End::was_left:
      said = self + " was silent for " + seconds.data() + ", and the others went on; ";
      break;
    case End::root_is_silent:
      said = other + ", which has the root, has been silent for " + seconds.data() + "; ";
      break;
    case End::has_parted:
      said = other + " has ended its session, and takes no part in this run; ";
      break;
  }
  platform::end_with("nigh: " + said + self + " ends\n", 1);
}

// Nobody waits for ever for a rank that was stopped on the way here.
void Agent::part_from_the_others() noexcept {
  for (bool is_first = true;; is_first = false) {
    {
      std::lock_guard const guard(lock_);
      auto const now = now_ns();
      if (is_first) engine_.part();
      receive_some(now);
      engine_.listen(now);
      if (engine_.has_parted()) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  beats_.reset();
}

void Agent::between_tasks(std::int64_t now) noexcept {
  bool const is_time = now - last_poll_ns_.load(sync::relaxed) > worker_polls_after_ns;
  if (!funneled_ && (is_time || engine_.is_called())) poll();
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

}  // namespace nigh::cluster
