// SPDX-License-Identifier: Apache-2.0
#include "cluster/engine.hpp"

#include <algorithm>
#include <utility>

#include "policy/lifelines.hpp"

namespace nigh::cluster {
namespace {

// Xorshift (Marsaglia 2003).
std::uint32_t next_random(std::uint32_t& state) noexcept {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

}  // namespace

Engine::Engine(policy::VictimPlan plan, EnginePolicies policies, Host& host, Transport& network,
               Neighbours neighbours)
    : plan_(std::move(plan)),
      policies_(policies),
      host_(host),
      network_(network),
      neighbours_(std::move(neighbours)),
      termination_(plan_.self, plan_.workers),
      lifelines_(policies.has_lifelines ? policy::lifelines(plan_.self, plan_.workers)
                                        : std::vector<int>()),
      // Spread over all bits, so that ranks do not begin with their neighbours.
      random_state_((static_cast<std::uint32_t>(plan_.self) + policies.seed) * 0x9e3779b9u | 1u) {}

void Engine::begin() {
  ++run_;
  failed_rounds_ = 0;
  rests_until_ns_ = 0;
  lifelines_.begin();
  NIGH_ASSERT(!neighbours_.any() || neighbours_.own().shelf.is_empty(),
              "no task is left of the run before");
  if (policies_.has_free_tasks) termination_.begin();
  if (plan_.self == 0) ++own_counts_.created;
  for (auto& task : std::exchange(early_, {})) host_.take(std::move(task));
}

void Engine::send(int to, byte_view message) {
  ++counters_.messages_sent;
  counters_.bytes_sent += message.size();
  network_.send(to, message);
}

void Engine::receive(int from, byte_view message, std::int64_t now_ns) {
  Reader reader(message);
  auto const header = reader.get<Header>();
  switch (header.kind) {
    case Kind::steal:
      return answer(from, header);
    case Kind::tasks:
      asked_ = false;
      if (header.count == 0) {
        ++counters_.steals_failed;
        return no_luck(now_ns);
      }
      attempt_ = failed_rounds_ = 0;
      counters_.tasks_stolen += header.count;
      return take_tasks(header, reader);
    case Kind::placed:
      lifelines_.wake();
      return take_tasks(header, reader);
    case Kind::lifeline:
      return lifelines_.hang(from, header.run);
    case Kind::fed:
      if (header.run == run_) lifelines_.used(from);
      attempt_ = failed_rounds_ = 0;
      rests_until_ns_ = 0;
      counters_.tasks_stolen += header.count;
      return take_tasks(header, reader);
    case Kind::result: {
      auto const head = reader.get<ResultHead>();
      return host_.deliver(head.token, {head.failed != 0, head.rank, reader.rest()});
    }
    case Kind::stop:
      pass_on(message);
      return keep_outcome(message);
    case Kind::failed: {
      auto const head = reader.get<ResultHead>();
      auto const output = reader.rest();
      return fail({true, head.rank, bytes(output.begin(), output.end())});
    }
    case Kind::wave:
      return send(termination_.received(from, reader.get<TerminationMessage>()));
  }
  NIGH_ASSERT(false, "a message has a known kind");
}

// Who is in another run than we are gets nothing: what waits here is not for it.
void Engine::answer(int thief, Header const& request) {
  writer_.clear();
  Header header{Kind::tasks, 0, 0, request.run};
  writer_.put(header);
  if (request.run == run_) {
    header.count = host_.give(writer_, chunk_for(thief));
    counters_.tasks_given += header.count;
    writer_.set(header);
  }
  send(thief, writer_.view());
}

// Those at the same switch and those beyond it are all at the level `cluster`; topmost are the
// farthest alone.
Chunk Engine::chunk_for(int thief) const {
  std::size_t const at = plan_.level_of[static_cast<std::size_t>(thief)];
  auto const where = plan_.levels[at].level;
  bool const is_farthest = at + 1 == plan_.levels.size();
  return {policies_.chunks, is_farthest ? where : std::min(where, level::host), plan_.topmost,
          policies_.fixed_chunk};
}

void Engine::take_tasks(Header const& header, Reader& from) {
  for (int i = 0; i < header.count; ++i) {
    auto task = get_task(from);
    if (i == 0 && header.kind != Kind::placed) task.came_with = header.count;
    if (header.run == run_)
      host_.take(std::move(task));
    else
      early_.push_back(std::move(task));
  }
}

void Engine::tick(std::int64_t now_ns) {
  if (policies_.has_free_tasks) look_whether_over();
  feed_lifelines();
  if (neighbours_.any() && deal_with_neighbours()) return;
  for (int tried = 0; tried < plan_.attempts_per_round; ++tried) {
    if (asked_ || !has_rested(now_ns)) return;
    auto const v = next_victim();
    if (neighbours_.has(v) && !visit(v, now_ns)) continue;
    asked_ = true;
    ++counters_.steals_asked;
    writer_.clear();
    writer_.put(Header{Kind::steal, 0, 0, run_});
    send(v, writer_.view());
  }
}

int Engine::next_victim() {
  if (attempt_ == 0) random_bits_ = next_random(random_state_);
  auto const bits =
      policies_.victims == policy::VictimChoice::random ? next_random(random_state_) : random_bits_;
  return policy::victim(plan_, policies_.victims, attempt_, bits).worker;
}

void Engine::no_luck(std::int64_t now_ns) {
  if (++attempt_ < plan_.attempts_per_round) return;
  attempt_ = 0;
  rests_until_ns_ = now_ns + policy::search_pause_ns(++failed_rounds_, policies_.rest);
  if (!lifelines_.are_used()) return;
  for (int const buddy : lifelines_.sleep()) {
    writer_.clear();
    writer_.put(Header{Kind::lifeline, 0, 0, run_});
    send(buddy, writer_.view());
  }
}

// Who sleeps on its lifelines has rested when its workers have had something to do since.
bool Engine::has_rested(std::int64_t now_ns) {
  if (now_ns < rests_until_ns_) return false;
  bool const is_hungry = host_.is_hungry();
  if (!is_hungry) lifelines_.wake();
  return is_hungry && !lifelines_.is_asleep();
}

// What waits here goes to those who hang on us, before anybody asks. Not what our own workers are
// about to take, or few tasks would go round and round.
void Engine::feed_lifelines() {
  for (int thief; (thief = lifelines_.first_hanging(run_)) >= 0 && host_.is_busy();) {
    writer_.clear();
    Header header{Kind::fed, 0, 0, run_};
    writer_.put(header);
    header.count = host_.give(writer_, chunk_for(thief));
    if (header.count == 0) return;
    writer_.set(header);
    counters_.tasks_given += header.count;
    lifelines_.let_go(thief);
    send(thief, writer_.view());
  }
}

void Engine::end_root(Outcome root) {
  if (!policies_.has_free_tasks) return stop(root);
  ++own_counts_.finished;
  root_ = std::move(root);
}

void Engine::fail(Outcome const& what) {
  if (plan_.self == 0) {
    ++own_counts_.finished;
    if (!failure_) failure_ = what;
    return;
  }
  writer_.clear();
  writer_.put(Header{Kind::failed, 0, 0, run_});
  writer_.put(ResultHead{0, what.rank, 1});
  writer_.put(byte_view(what.output));
  send(0, writer_.view());
}

void Engine::look_whether_over() {
  if (termination_.is_waited_for()) {
    auto counts = host_.free_tasks();
    counts.created += own_counts_.created;
    counts.finished += own_counts_.finished;
    send(termination_.look(counts, host_.is_hungry()));
  }
  if (!termination_.has_ended() || !root_) return;
  auto const failure = std::exchange(failure_, {});
  auto const root = *std::exchange(root_, {});
  stop(failure && !root.failed ? *failure : root);
}

void Engine::send(std::vector<Termination::Send> const& waves) {
  for (auto const& wave : waves) {
    Writer message;
    message.put(Header{Kind::wave, 0, 0, run_});
    message.put(wave.message);
    send(wave.to, message.view());
  }
}

void Engine::stop(Outcome const& root) {
  Writer message;
  message.put(Header{Kind::stop, 0, 0, run_});
  message.put(ResultHead{0, root.rank, root.failed ? 1u : 0u});
  message.put(byte_view(root.output));
  pass_on(message.view());
  keep_outcome(message.view());
}

// A binomial tree with rank 0 at its root: each rank tells those that differ from it in one bit
// above its own highest.
void Engine::pass_on(byte_view stop_message) {
  for (int step = 1; step < plan_.workers; step *= 2)
    if (step > plan_.self && plan_.self + step < plan_.workers)
      send(plan_.self + step, stop_message);
}

void Engine::keep_outcome(byte_view stop_message) {
  Reader reader(stop_message);
  static_cast<void>(reader.get<Header>());
  auto const head = reader.get<ResultHead>();
  auto const output = reader.rest();
  over_.push_back({head.failed != 0, head.rank, bytes(output.begin(), output.end())});
}

Outcome Engine::take_outcome() {
  auto first = std::move(over_.front());
  over_.pop_front();
  return first;
}

}  // namespace nigh::cluster
