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
               HostSegments segments)
    : plan_(std::move(plan)),
      policies_(policies),
      host_(host),
      network_(network),
      segments_(std::move(segments)),
      termination_(plan_.self, plan_.workers),
      silence_(plan_.workers, policies.silence_ns),
      parts_(static_cast<std::size_t>(plan_.workers)),
      lifelines_(policies.has_lifelines ? policy::lifelines(plan_.self, plan_.workers)
                                        : std::vector<int>()),
      // Spread over all bits, so that ranks do not begin with their neighbours.
      random_state_((static_cast<std::uint32_t>(plan_.self) + policies.seed) * 0x9e3779b9u | 1u) {
  if (!policies_.supervised) return;
  NIGH_ASSERT(!policies_.has_free_tasks, "nobody keeps a copy of a free task");
  NIGH_ASSERT(!segments_.any(), "nobody knows who took a task from a shelf");
  supervision_.emplace(plan_.workers);
}

void Engine::begin() {
  shown_run_.store(++run_, sync::relaxed);
  failed_rounds_ = 0;
  rests_until_ns_ = 0;
  lifelines_.begin();
  NIGH_ASSERT(!segments_.any() || segments_.own().queue.is_empty(),
              "no task is left of the run before");
  if (policies_.has_free_tasks) termination_.begin();
  if (plan_.self == 0) ++own_counts_.created;
  look_whether_somebody_misses();
  for (auto& task : std::exchange(early_, {})) host_.take(std::move(task));
}

void Engine::send(int to, byte_view message) {
  if (supervision_) {
    auto const kind = Reader(message).get<Header>().kind;
    if (kind == Kind::placed) return place(to, message);
    if (kind == Kind::result && is_closed()) return;
  }
  send_now(to, message);
}

void Engine::send_now(int to, byte_view message) {
  if (supervision_ && supervision_->is_lost(to)) return;
  ++counters_.messages_sent;
  counters_.bytes_sent += message.size();
  network_.send(to, message);
}

void Engine::receive(int from, byte_view message, std::int64_t now_ns) {
  if (supervision_ && supervision_->is_lost(from)) return;
  silence_.heard(from);
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
      return result(head, reader.rest());
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
    case Kind::beat:
      return;
    case Kind::silent:
      return told_of_silent(reader.get<std::int32_t>(), now_ns);
    case Kind::parts:
      return rank_parts(from, header.run);
  }
  NIGH_ASSERT(false, "a message has a known kind");
}

// Who is in another run than we are gets nothing: what waits here is not for it.
void Engine::answer(int thief, Header const& request) {
  writer_.clear();
  writer_.put(Header{Kind::tasks, 0, 0, request.run});
  if (request.run == run_ && !is_closed()) give(thief, Kind::tasks);
  send(thief, writer_.view());
}

// A message of that kind with tasks for the thief, in the writer. Returns their number.
int Engine::give(int thief, Kind kind) {
  writer_.clear();
  Header header{kind, 0, 0, run_};
  writer_.put(header);
  header.count = host_.give(writer_, chunk_for(thief));
  writer_.set(header);
  if (supervision_) keep_copies(thief);
  counters_.tasks_given += header.count;
  return header.count;
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
    if (header.run > run_)
      early_.push_back(std::move(task));
    else if (!is_closed())
      host_.take(std::move(task));
  }
}

void Engine::tick(std::int64_t now_ns) {
  listen(now_ns);
  if (policies_.has_free_tasks) look_whether_over();
  feed_lifelines();
  if (segments_.any() && steal_in_shared_memory(now_ns)) return;
  for (int tried = 0; tried < plan_.attempts_per_round; ++tried) {
    if (asked_ || !has_rested(now_ns)) return;
    auto const v = next_victim();
    if (supervision_ && supervision_->is_lost(v)) {
      no_luck(now_ns);
      continue;
    }
    if (segments_.has(v) && !visit(v, now_ns)) continue;
    asked_ = true;
    asks_ = v;
    asked_ns_ = now_ns;
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
  while (host_.is_busy() && !is_closed()) {
    int const thief = lifelines_.first_hanging(run_);
    if (thief < 0) return;
    if (give(thief, Kind::fed) == 0) return;
    lifelines_.let_go(thief);
    send(thief, writer_.view());
  }
}

}  // namespace nigh::cluster
