// SPDX-License-Identifier: Apache-2.0
// An engine and its neighbours.

#include <algorithm>
#include <array>
#include <utility>

#include "cluster/engine.hpp"
#include "cluster/shared_segment.hpp"

namespace nigh::cluster {

namespace {

// A word is stored when it changes: others keep its line meanwhile.
void say(SharedSegment::Word& word, std::uint32_t what) noexcept {
  if (word.load(sync::relaxed) != what) word.store(what, sync::relaxed);
}

}  // namespace

bool Engine::steal_in_shared_memory(std::int64_t now_ns) {
  auto& own = segments_.own();
  own.looks.store(own.looks.load(sync::relaxed) + 1, sync::relaxed);
  bool const hungry = host_.is_hungry();
  say(own.hungry, hungry ? run_ : 0);
  if (!hungry) {
    asked_nearby_.clear();
    if (own.wanted.load(sync::relaxed) != 0) offer();
    return false;
  }
  if (auto const n =
          take_from(own, {policies_.chunks, level::cpu, plan_.topmost, policies_.fixed_chunk});
      n > 0) {
    counters_.tasks_given -= n;
    return true;
  }
  for (auto const& asked : asked_nearby_)
    if (rob(asked.rank)) return true;
  ring_those_who_do_not_look(now_ns);
  return false;
}

void Engine::ring_those_who_do_not_look(std::int64_t now_ns) {
  for (auto& asked : asked_nearby_) {
    if (now_ns < asked.ring_ns) continue;
    auto const& segment = segments_.at(asked.rank);
    auto const looks = segment.looks.load(sync::relaxed);
    bool const looked = std::exchange(asked.looks, looks) != looks;
    bool const is_hungry = segment.hungry.load(sync::relaxed) == run_;
    if (policy::rings(looked, is_hungry)) host_.ring(asked.rank);
    asked.ring_ns = now_ns + policy::next_ring_in_ns(looked, policies_.rings);
  }
}

// As much as an answer would bring. What does not go on the shelf waits to be asked for.
void Engine::offer() {
  auto& own = segments_.own();
  auto const wanted = own.wanted.load(sync::relaxed);
  say(own.wanted_in_vain, wanted);
  if (wanted != run_) return;
  say(own.wanted, 0);  // first: whoever finds the shelf empty again says so again
  writer_.clear();
  auto const n = host_.give(writer_, chunk_for(nearest_on_host()));
  Reader tasks(writer_.view());
  std::uint16_t on_shelf = 0;
  for (int i = 0; i < n; ++i) {
    auto task = get_task(tasks);
    if (Descriptor::fits(task) && own.queue.put(Descriptor(task), run_))
      ++on_shelf;
    else
      host_.take(std::move(task));
  }
  counters_.tasks_given += on_shelf;
  say(own.has_more, on_shelf < n ? run_ : 0);
  if (on_shelf == 0)
    say(own.wanted, wanted);
  else
    say(own.wanted_in_vain, 0);
}

std::size_t Engine::take_from(SharedSegment& segment, Chunk const& chunk) {
  std::array<Descriptor, most_from_queue> got;
  std::size_t n = 0;
  if (segment.queue.take(got, n, run_, chunk) != Take::taken) return 0;
  for (std::size_t i = 0; i < n; ++i) {
    auto task = got[i].task();
    if (i == 0 && &segment != &segments_.own()) task.came_with = static_cast<std::uint16_t>(n);
    host_.take(std::move(task));
  }
  return n;
}

bool Engine::rob(int neighbour) {
  auto const n = take_from(segments_.at(neighbour), chunk_for(neighbour));
  if (n == 0) return false;
  ++counters_.window_steals;
  counters_.window_tasks += n;
  counters_.tasks_stolen += n;
  attempt_ = failed_rounds_ = 0;
  rests_until_ns_ = 0;
  asked_nearby_.clear();
  lifelines_.wake();
  return true;
}

// True: it is to be asked by a message. A neighbour that has nothing either is no reason to wait.
bool Engine::visit(int neighbour, std::int64_t now_ns) {
  if (rob(neighbour)) return false;
  auto& segment = segments_.at(neighbour);
  bool const asks = segment.has_more.load(sync::relaxed) == run_;
  bool const waits = segment.hungry.load(sync::relaxed) != run_;
  if (asks || waits) {
    say(segment.wanted, run_);
    if (std::none_of(asked_nearby_.begin(), asked_nearby_.end(),
                     [&](AskedNearby const& asked) { return asked.rank == neighbour; })) {
      asked_nearby_.push_back(
          {neighbour, segment.looks.load(sync::relaxed), now_ns + policies_.rings.after_ns});
      asked_ns_ = now_ns;
    }
  }
  if (asks) return true;
  no_luck(now_ns);
  if (waits) rests_until_ns_ = std::max(rests_until_ns_, now_ns + policies_.patience_ns);
  return false;
}

int Engine::nearest_on_host() const {
  for (auto const& there : plan_.levels)
    for (int const rank : there.victims)
      if (segments_.has(rank)) return rank;
  return plan_.self;
}

}  // namespace nigh::cluster
