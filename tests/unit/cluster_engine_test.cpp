// SPDX-License-Identifier: Apache-2.0
// Several ranks' engines in one thread, on a network whose schedule a seed decides: each task runs
// once, each result arrives once, and a run is over when all of it is done, not before.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "cluster/engine.hpp"
#include "cluster/placed.hpp"
#include "scripted_network.hpp"

namespace {

namespace policy = nigh::policy;
namespace tests = nigh::tests;
using nigh::level;
using namespace nigh::cluster;
using tests::ScriptedNetwork;

constexpr Token root_token = 1, free_token = 2;

// Every task makes two smaller ones, until they are of size 0, and returns how many there were.
// Some are placed at other ranks, some have a free task beside them.
class Rank final : public Engine::Host {
 public:
  struct Rules {
    EnginePolicies policies;
    std::size_t capacity = 2;  // placed tasks at one rank
    bool places = false;
  };

  Rank(int self, std::vector<policy::Reach> const& reach, ScriptedNetwork& network, Rules rules)
      : self_(self),
        rules_(rules),
        placed_(static_cast<int>(reach.size()), rules.capacity),
        ranks_(static_cast<int>(reach.size())),
        engine(policy::victim_plan(self, reach), rules.policies, *this, network.end(self)) {}

  void drop_tasks() { ready_.clear(); }
  void add_root(int size) { ready_.push_back(task(size, root_token)); }

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

  // Engine::Host
  bool is_hungry() override { return ready_.empty(); }
  bool is_busy() override { return ready_.size() > 1; }
  std::uint16_t give(Writer& to, Chunk const& chunk) override {
    auto const n = ready_.empty() ? 0 : chunk(ready_.size());
    for (std::size_t i = 0; i < n; ++i) {
      put_task(to, ready_.front());
      ready_.pop_front();
    }
    return static_cast<std::uint16_t>(n);
  }
  void take(Task t) override { ready_.push_back(std::move(t)); }
  void deliver(Token token, nigh::cluster::detail::outcome const& what) override {
    if (token == root_token)
      return engine.end_root({false, what.rank, bytes(what.output.begin(), what.output.end())});
    int value;
    std::memcpy(&value, what.output.data(), sizeof value);
    if (PlacedTasks::owns(token)) {
      auto const entry = placed_.remove(token);
      Token child;
      std::memcpy(&child, &entry.out, sizeof child);
      return arrive(child, value);
    }
    arrive(token, value);
  }
  TaskCounts free_tasks() override { return free_; }

  bool is_idle() const { return ready_.empty() && joins_.empty(); }
  TaskCounts free_counts() const { return free_; }
  std::size_t ran = 0;

 private:
  struct Join {
    Task of;
    int missing = 0;
    int sum = 0;
  };

  Task task(int size, Token token) const {
    Task t{0, self_, token, false, bytes(sizeof size)};
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

 public:
  Engine engine;
};

// Hosts of two ranks each.
std::vector<policy::Reach> reaches(int self, int ranks) {
  std::vector<policy::Reach> to;
  for (int r = 0; r < ranks; ++r)
    to.push_back({r / 2 == self / 2 ? level::host : level::cluster, 0});
  return to;
}

struct Schedule {
  unsigned seed;
  int ranks;
  Rank::Rules rules;
};

// Runs follow each other; ranks are not all in the same one.
void play(Schedule const& s) {
  constexpr int runs = 3;
  std::mt19937 random(s.seed);
  tests::ScriptedNetwork network(s.ranks);
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int r = 0; r < s.ranks; ++r)
    ranks.push_back(std::make_unique<Rank>(r, reaches(r, s.ranks), network, s.rules));
  std::vector<int> run_of(static_cast<std::size_t>(s.ranks), 0), left(run_of);
  auto const size_in = [](int run) { return 4 + run; };

  int finished = 0;
  std::int64_t now = 0;
  for (int step = 0; finished < s.ranks; ++step) {
    ASSERT_LT(step, 3'000'000) << "it ends";
    now += 1 + static_cast<std::int64_t>(random() % 2000);
    auto const r = random() % static_cast<unsigned>(s.ranks);
    auto& rank = *ranks[r];
    if (left[r] == runs) continue;
    if (run_of[r] == left[r]) {  // between two runs
      if (random() % 8 != 0) continue;
      ++run_of[r];
      rank.engine.begin();
      if (r == 0) rank.add_root(size_in(run_of[r]));
    }
    switch (random() % 3) {
      case 0:
        rank.step(random);
        break;
      case 1: {
        auto const got = network.next_for(static_cast<int>(r), random);
        if (got.from >= 0) rank.engine.receive(got.from, got.message, now);
        break;
      }
      default:
        rank.engine.tick(now);
    }
    if (!rank.engine.is_over()) continue;
    auto const outcome = rank.engine.take_outcome();
    int value = 0;
    std::memcpy(&value, outcome.output.data(), sizeof value);
    ASSERT_EQ(value, (2 << size_in(run_of[r])) - 1);
    ASSERT_TRUE(rank.is_idle()) << "rank " << r << " has nothing left";
    if (++left[r] == runs) ++finished;
  }
  TaskCounts sum;
  for (auto const& rank : ranks) {
    sum.created += rank->free_counts().created;
    sum.finished += rank->free_counts().finished;
  }
  EXPECT_EQ(sum.created, sum.finished);
}

TEST(Engine, EndsEveryRunOnEveryScheduleWithEveryPolicy) {
  unsigned seed = 1;
  for (auto victims : {policy::VictimChoice::hierarchical, policy::VictimChoice::random,
                       policy::VictimChoice::ring})
    for (auto chunks :
         {policy::ChunkChoice::hierarchical, policy::ChunkChoice::half, policy::ChunkChoice::one})
      for (bool const has_free_tasks : {false, true})
        for (int ranks : {1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9}) {
          EnginePolicies policies{victims, chunks, {20'000, 1'000'000}, seed, has_free_tasks};
          SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << ranks << " ranks");
          play({seed, ranks, {policies, 2, seed % 2 == 0}});
          if (testing::Test::HasFatalFailure()) return;
          ++seed;
        }
}

TEST(Engine, EndsEveryRunOnEveryScheduleWithLifelines) {
  unsigned seed = 1000;
  for (auto victims : {policy::VictimChoice::random, policy::VictimChoice::hierarchical})
    for (auto chunks : {policy::ChunkChoice::hierarchical, policy::ChunkChoice::one})
      for (bool const has_free_tasks : {false, true})
        for (int ranks : {1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 16}) {
          EnginePolicies policies{victims, chunks, {20'000, 1'000'000}, seed, has_free_tasks};
          policies.has_lifelines = true;
          SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << ranks << " ranks");
          play({seed, ranks, {policies, 2, seed % 2 == 0}});
          if (testing::Test::HasFatalFailure()) return;
          ++seed;
        }
}

// All messages that are under way arrive.
void deliver_all(tests::ScriptedNetwork& network, std::vector<std::unique_ptr<Rank>> const& ranks,
                 std::mt19937& random, std::int64_t now) {
  while (network.under_way() > 0)
    for (std::size_t r = 0; r < ranks.size(); ++r)
      if (auto const got = network.next_for(static_cast<int>(r), random); got.from >= 0)
        ranks[r]->engine.receive(got.from, got.message, now);
}

TEST(Engine, AsksNobodyWhileItSleepsOnItsLifelines) {
  constexpr int count = 8;
  tests::ScriptedNetwork network(count);
  EnginePolicies policies;
  policies.victims = policy::VictimChoice::random;
  policies.has_lifelines = true;
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int r = 0; r < count; ++r) {
    ranks.push_back(
        std::make_unique<Rank>(r, reaches(r, count), network, Rank::Rules{policies, 2, false}));
    ranks.back()->engine.begin();
  }
  std::mt19937 random(1);
  std::int64_t now = 0;
  auto const pass_time = [&](int ticks) {
    for (int i = 0; i < ticks; ++i, now += 1'000'000) {
      for (auto const& rank : ranks) rank->engine.tick(now);
      deliver_all(network, ranks, random, now);
    }
  };
  pass_time(100);
  auto const sent = network.sent();
  pass_time(1000);
  EXPECT_EQ(network.sent(), sent) << "all are asleep";

  ranks[5]->add_root(10);  // waits there from now on
  ranks[5]->add_root(10);
  ranks[5]->engine.tick(now);
  EXPECT_EQ(network.sent(), sent + 1) << "nobody asked for it";
  deliver_all(network, ranks, random, now);
  EXPECT_EQ(ranks[5]->engine.counters().tasks_given, 1u);
  std::uint64_t taken = 0;
  for (auto const& rank : ranks) taken += rank->engine.counters().tasks_stolen;
  EXPECT_EQ(taken, 1u);
}

TEST(Engine, AsksAgainOnceItHasHadSomethingToDo) {
  tests::ScriptedNetwork network(2);
  EnginePolicies policies;
  policies.has_lifelines = true;
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int r = 0; r < 2; ++r) {
    ranks.push_back(
        std::make_unique<Rank>(r, reaches(r, 2), network, Rank::Rules{policies, 2, false}));
    ranks.back()->engine.begin();
  }
  std::mt19937 random(1);
  std::int64_t now = 0;
  auto& thief = ranks[1]->engine;
  auto const ticks = [&] {
    for (int i = 0; i < 20; ++i, now += 2'000'000) {
      thief.tick(now);
      deliver_all(network, ranks, random, now);
    }
  };
  ticks();
  EXPECT_EQ(thief.counters().steals_asked, 2u) << "a round";
  EXPECT_EQ(thief.counters().messages_sent, 3u) << "and one for a lifeline";
  ranks[1]->add_root(0);
  ticks();
  EXPECT_EQ(thief.counters().steals_asked, 2u);
  ranks[1]->drop_tasks();
  ticks();
  EXPECT_EQ(thief.counters().steals_asked, 4u);
  EXPECT_EQ(thief.counters().messages_sent, 5u) << "it has its lifeline still";
}

TEST(Engine, ForgetsLifelinesOfRunsThatAreOver) {
  tests::ScriptedNetwork network(2);
  EnginePolicies policies;
  policies.has_lifelines = true;
  Rank victim(0, reaches(0, 2), network, {policies, 2, false});
  victim.engine.begin();
  Writer line;
  line.put(Header{Kind::lifeline, 0, 0, 1});
  victim.engine.receive(1, line.view(), 0);
  victim.engine.begin();
  victim.add_root(1);
  victim.add_root(1);
  victim.engine.tick(0);
  EXPECT_EQ(network.sent(), 0u);
  line.clear();
  line.put(Header{Kind::lifeline, 0, 0, 3});  // of who is ahead
  victim.engine.receive(1, line.view(), 0);
  victim.engine.tick(0);
  EXPECT_EQ(network.sent(), 0u);
  victim.engine.begin();
  victim.engine.tick(0);
  EXPECT_EQ(network.sent(), 1u);
}

// A victim answers whatever it has, once for each request; a thief has one under way.
TEST(Engine, AsksOneVictimAtATimeAndRestsAfterARoundInVain) {
  tests::ScriptedNetwork network(2);
  EnginePolicies policies;
  Rank thief(1, reaches(1, 2), network, {policies, 1, false});
  Rank victim(0, reaches(0, 2), network, {policies, 1, false});
  std::mt19937 random(1);
  thief.engine.begin();
  victim.engine.begin();
  thief.engine.tick(0);
  thief.engine.tick(1);
  EXPECT_EQ(network.sent(), 1u) << "a request is under way";
  int asked = 0;
  for (std::int64_t now = 2; asked < 2; ++now) {
    auto request = network.next_for(0, random);
    victim.engine.receive(request.from, request.message, now);
    auto answer = network.next_for(1, random);
    thief.engine.receive(answer.from, answer.message, now);
    ++asked;
    thief.engine.tick(now);
    if (network.under_way() == 0) break;
  }
  EXPECT_EQ(network.under_way(), 0u) << "it rests";
  thief.engine.tick(19'000);
  EXPECT_EQ(network.under_way(), 0u);
  thief.engine.tick(25'000);
  EXPECT_EQ(network.under_way(), 1u);
}

// Hosts of one rank; the first two hang off one switch.
TEST(Engine, GivesHalfOfItsTasksOnlyToTheFarthest) {
  tests::ScriptedNetwork network(3);
  EnginePolicies policies;
  policies.fixed_chunk = 2;
  Rank victim(0, {{}, {level::cluster, 0}, {level::cluster, 1}}, network, {policies, 1, false});
  std::mt19937 random(1);
  victim.engine.begin();
  for (int i = 0; i < 10; ++i) victim.add_root(1);
  Writer request;
  request.put(Header{Kind::steal, 0, 0, 1});
  auto const given_to = [&](int thief) {
    victim.engine.receive(thief, request.view(), 0);
    auto const answer = network.next_for(thief, random);
    return Reader(answer.message).get<Header>().count;
  };
  EXPECT_EQ(given_to(1), 2);
  EXPECT_EQ(given_to(2), 4);
}

TEST(Engine, GivesNothingToWhoIsInAnotherRun) {
  tests::ScriptedNetwork network(2);
  EnginePolicies policies;
  Rank ahead(1, reaches(1, 2), network, {policies, 1, false});
  Rank behind(0, reaches(0, 2), network, {policies, 1, false});
  std::mt19937 random(1);
  ahead.engine.begin();
  ahead.engine.begin();
  behind.engine.begin();
  behind.add_root(3);
  ahead.engine.tick(0);
  auto request = network.next_for(0, random);
  behind.engine.receive(request.from, request.message, 0);
  auto answer = network.next_for(1, random);
  ahead.engine.receive(answer.from, answer.message, 0);
  EXPECT_TRUE(ahead.is_idle());
  EXPECT_EQ(ahead.engine.counters().steals_failed, 1u);
}

}  // namespace
