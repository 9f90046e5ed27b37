// SPDX-License-Identifier: Apache-2.0
// How a run ends, on all ranks.

#include <utility>

#include "cluster/engine.hpp"

namespace nigh::cluster {

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
// above its own highest. Where ranks may be lost, nobody but rank 0, which is not, passes it on.
void Engine::pass_on(byte_view stop_message) {
  if (supervision_) {
    for (int to = 1; plan_.self == 0 && to < plan_.workers; ++to) send(to, stop_message);
    return;
  }
  for (int step = 1; step < plan_.workers; step *= 2)
    if (step > plan_.self && plan_.self + step < plan_.workers)
      send(plan_.self + step, stop_message);
}

void Engine::keep_outcome(byte_view stop_message) {
  Reader reader(stop_message);
  ended_ = reader.get<Header>().run;
  if (supervision_) release_waiting();
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
