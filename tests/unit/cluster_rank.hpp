// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ranks for tests of engines: tasks that make tasks, in one thread, and hosts of two ranks each
// that share memory.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "cluster/engine.hpp"
#include "cluster/task_queues.hpp"
#include "scripted_network.hpp"

namespace nigh::tests {

namespace policy = nigh::policy;
using namespace nigh::cluster;

inline constexpr Token root_token = 1, free_token = 2;

// The memory that ranks 0 and 1 share, that 2 and 3 share, ...
class Hosts {
 public:
  explicit Hosts(int ranks) {
    for (int r = 0; r < ranks; ++r) segments_.push_back(std::make_unique<SharedSegment>());
  }
  HostSegments seen_by(int self) const {
    std::vector<SharedSegment*> segments(segments_.size());
    auto const first = static_cast<std::size_t>(self / 2 * 2);
    if (first + 1 == segments.size()) return {};
    for (auto r : {first, first + 1}) segments[r] = segments_[r].get();
    return {self, std::move(segments)};
  }
  SharedSegment& segment(int rank) const { return *segments_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<std::unique_ptr<SharedSegment>> segments_;
};

// Every task makes two smaller ones, until they are of size 0, and returns how many there were.
// Some are placed at other ranks, some have a free task beside them.
class Rank final : public Engine::Tasks {
 public:
  struct Rules {
    EnginePolicies policies;
    std::size_t capacity = 2;  // placed tasks at one rank
    bool places = false;
    bool has_large_tasks = false;  // some fit no shared queue
    bool forgets = true;           // drops tasks of ranks that are lost
  };

  Rank(int self, std::vector<policy::Reach> const& reach, ScriptedNetwork& network, Rules rules,
       HostSegments segments = {})
      : self_(self),
        rules_(rules),
        placed_(static_cast<int>(reach.size()), rules.capacity),
        ranks_(static_cast<int>(reach.size())),
        engine(policy::victim_plan(self, reach), rules.policies, *this, network.end(self),
               std::move(segments)) {}

  void drop_tasks() { ready_.clear(); }
  // As the product's, it stays on this rank; tests of steals may have it stolen.
  void add_root(int size, bool stays = false) {
    ready_.push_back(task(size, root_token));
    ready_.back().stays = stays;
    ready_.back().run = engine.run();
  }

  // Runs one task, if there is one.
  void step(std::mt19937& random) {
    if (ready_.empty()) return;
    auto const t = ready_.back();  // the newest; thieves take the oldest
    ready_.pop_back();
    ++ran;
    int const size = size_of(t);
    if (t.token == free_token) {
      ++free_.finished;
      if (size > 0) add_free(size - 1);
      return;
    }
    if (rules_.policies.has_free_tasks && random() % 4 == 0) add_free(2);
    if (size == 0) return complete(t, 1);
    auto const join = next_token_;
    next_token_ += 2;
    joins_[join] = {t, 2, 1};
    for (Token child : {join, join + 1}) {
      if (rules_.places && random() % 4 == 0 && place(size - 1, child, random)) continue;
      ready_.push_back(task(size - 1, child));
    }
  }

  // Engine::Tasks
  bool is_hungry() override { return ready_.empty() && !is_at_work; }
  bool is_busy() override { return ready_.size() > 1; }
  std::uint16_t give(Writer& to, Chunk const& chunk) override {
    auto const may_go = [](Task const& t) { return !t.stays; };
    auto const waiting = std::count_if(ready_.begin(), ready_.end(), may_go);
    auto const n = waiting == 0 ? 0 : chunk(static_cast<std::size_t>(waiting));
    for (std::size_t i = 0; i < n; ++i) {
      auto const oldest = std::find_if(ready_.begin(), ready_.end(), may_go);
      put_task(to, *oldest);
      ready_.erase(oldest);
    }
    return static_cast<std::uint16_t>(n);
  }
  void take(Task t) override { ready_.push_back(std::move(t)); }
  void forget(int rank) override {
    if (rules_.forgets) std::erase_if(ready_, [&](Task const& t) { return t.owner == rank; });
  }
  void deliver(Token token, nigh::cluster::detail::outcome const& what) override {
    if (token == root_token)
      return engine.end_root({false, what.rank, bytes(what.output.begin(), what.output.end())},
                             engine.run());
    int value = -1'000'000;  // of what nobody waits for
    if (!what.failed) std::memcpy(&value, what.output.data(), sizeof value);
    if (PlacedTasks::owns(token)) {
      auto const entry = placed_.remove(token);
      Token child;
      std::memcpy(&child, &entry.out, sizeof child);
      return arrive(child, value);
    }
    arrive(token, value);
  }
  TaskCounts free_tasks() override { return free_; }

  // The engine's notices so far.
  using What = Engine::Notice::What;
  std::vector<int> const& rung() { return heed(), rung_; }
  std::vector<int> take_left() { return heed(), std::exchange(left_, {}); }
  bool becomes_root() { return heed(), std::exchange(is_new_root_, false); }
  std::optional<What> ends() { return heed(), ends_; }  // why it must
  int ends_because_of() { return heed(), ends_because_of_; }

  bool has_ready() const { return !ready_.empty(); }
  bool is_idle() const { return ready_.empty() && joins_.empty(); }
  TaskCounts free_counts() const { return free_; }
  std::size_t ran = 0;
  bool is_at_work = false;  // in a task that takes long

 private:
  void heed() {
    for (auto const [what, rank] : engine.take_notices()) {
      if (what == What::ring) {
        rung_.push_back(rank);
      } else if (what == What::left_silent) {
        left_.push_back(rank);
      } else if (what == What::is_root) {
        is_new_root_ = true;
      } else {
        ends_ = what;
        ends_because_of_ = rank;
      }
    }
  }

  struct Join {
    Task of;
    int missing = 0;
    int sum = 0;
  };

  Task task(int size, Token token) const {
    bool const is_large = rules_.has_large_tasks && size % 2 == 0;
    Task t{0, self_, token, false, bytes(is_large ? 200 : sizeof size)};
    std::memcpy(t.input.data(), &size, sizeof size);
    return t;
  }
  static int size_of(Task const& t) {
    int size;
    std::memcpy(&size, t.input.data(), sizeof size);
    return size;
  }
  void add_free(int size) {
    ++free_.created;
    ready_.push_back(task(size, free_token));
  }
  bool place(int size, Token child, std::mt19937& random) {
    auto const to = static_cast<int>(random() % static_cast<unsigned>(ranks_));
    if (to == self_) return false;
    nigh::cluster::detail::placed entry{};
    std::memcpy(&entry.out, &child, sizeof child);
    auto const token = placed_.add(to, entry);
    if (!token) return false;
    Writer w;
    w.put(Header{Kind::placed, 0, 1, engine.run()});
    put_task(w, task(size, *token));
    engine.send(to, w.view());
    return true;
  }
  void complete(Task const& t, int value) {
    bytes output(sizeof value);
    std::memcpy(output.data(), &value, sizeof value);
    if (t.token == root_token && t.stays)
      return engine.end_root({false, self_, output}, t.run);
    if (t.owner == self_) return deliver(t.token, {false, self_, output});
    Writer w;
    w.put(Header{Kind::result, 0, 1, engine.run()});
    w.put(ResultHead{t.token, self_, 0});
    w.put(byte_view(output));
    engine.send(t.owner, w.view());
  }
  void arrive(Token child, int value) {
    EXPECT_TRUE(arrived_.insert(child).second) << "each result arrives once";
    auto const at = joins_.find(child & ~Token{1});
    ASSERT_NE(at, joins_.end());
    at->second.sum += value;
    if (--at->second.missing > 0) return;
    auto const done = at->second;
    joins_.erase(at);
    complete(done.of, done.sum);
  }

  int const self_;
  Rules const rules_;
  PlacedTasks placed_;
  int const ranks_;
  std::deque<Task> ready_;
  std::map<Token, Join> joins_;
  std::set<Token> arrived_;
  Token next_token_ = 4;
  TaskCounts free_;
  std::vector<int> rung_, left_;
  bool is_new_root_ = false;
  std::optional<What> ends_;
  int ends_because_of_ = -1;

 public:
  Engine engine;
};

// Hosts of two ranks each.
inline std::vector<policy::Reach> reaches(int self, int ranks) {
  std::vector<policy::Reach> to;
  for (int r = 0; r < ranks; ++r)
    to.push_back({r / 2 == self / 2 ? level::host : level::cluster, 0});
  return to;
}

}  // namespace nigh::tests
