// SPDX-License-Identifier: Apache-2.0
// The virtual clock, and links between domains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "sim/event_queue.hpp"
#include "sim/machine.hpp"
#include "sim/random.hpp"
#include "sim/simulation.hpp"

namespace nigh::sim {
namespace {

TEST(EventQueue, TellsEventsByTimeThenByOrder) {
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    EventQueue queue;
    std::vector<std::pair<Time, std::uint32_t>> expected;
    int const events = 1 + random.below(500);
    for (int i = 0; i < events; ++i) {
      Time const at = random.below(20);
      queue.post(at, 7, static_cast<std::uint32_t>(i));
      expected.emplace_back(at, static_cast<std::uint32_t>(i));
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [](auto const& a, auto const& b) { return a.first < b.first; });
    for (auto const& [at, what] : expected) {
      Event const e = queue.pop();
      ASSERT_EQ(e.at, at);
      ASSERT_EQ(e.what, what);
      ASSERT_EQ(queue.now(), at);
    }
    EXPECT_TRUE(queue.empty());
  }
}

TEST(EventQueue, TakesEventsWhileItRuns) {
  EventQueue queue;
  Random random(4);
  for (int i = 0; i < 100; ++i) queue.post(random.below(1000), 0, 0);
  Time last = 0;
  for (int i = 0; i < 10000; ++i) {
    Event const e = queue.pop();
    ASSERT_GE(e.at, last);
    last = e.at;
    queue.post(e.at + random.below(1000), 0, 0);
  }
  EXPECT_EQ(queue.size(), 100u);
}

// Near events lie in slots, later ones in a heap: beside a queue that knows no such thing, with
// steps from none to several times the slots' reach.
TEST(EventQueue, KeepsTheOrderOfNearAndFarEvents) {
  Random random(5);
  for (Time longest : {10, 3000, 70'000, 1'000'000, 40'000'000}) {
    EventQueue queue;
    std::map<std::pair<Time, std::uint32_t>, Actor> expected;  // by time and order
    std::uint32_t posted = 0;
    Time now = 0;
    for (int step = 0; step < 20'000; ++step) {
      if (expected.empty() || random.below(100) < (step < 10'000 ? 60 : 40)) {
        auto const after =
            static_cast<Time>(random.uniform() * random.uniform() * static_cast<double>(longest));
        queue.post(now + after, posted * 3, posted);
        expected.emplace(std::pair{now + after, posted}, posted * 3);
        ++posted;
      } else if (random.below(10) == 0) {
        now += (expected.begin()->first.first - now) / 2;
        queue.advance(now);
      } else {
        auto const [key, actor] = *expected.begin();
        ASSERT_EQ(queue.next().at, key.first);
        auto at = expected.begin();
        for (int after = 0; after < 3 && at != expected.end(); ++after, ++at)
          if (auto const* const soon = queue.upcoming(after); soon != nullptr) {
            ASSERT_EQ(*soon, at->second);
          }
        auto const e = queue.pop();
        ASSERT_EQ(e.at, key.first);
        ASSERT_EQ(e.what, key.second);
        ASSERT_EQ(e.actor, actor);
        now = e.at;
        expected.erase(expected.begin());
      }
      ASSERT_EQ(queue.size(), expected.size());
      ASSERT_EQ(queue.now(), now);
    }
  }
}

TEST(EventQueueDeathTest, KnowsNoPast) {
  EventQueue queue;
  queue.post(5, 0, 0);
  queue.pop();
  EXPECT_DEATH(queue.post(4, 0, 0), "past");
}

struct Log {
  std::vector<std::pair<Time, char>> said;
  Simulation* simulation = nullptr;
  void happen(Event const& e) { said.emplace_back(e.at, 'e'); }
  void ended(FlowId) { said.emplace_back(simulation->now(), 'f'); }
};

TEST(Simulation, MergesEventsAndEndings) {
  Simulation simulation;
  Log log{{}, &simulation};
  auto const core = simulation.network.add({1, 0, 0});
  Use const use{core, 1};
  simulation.network.start(0, 1e-9 * 10, {&use, 1});  // alone 10 ns, with the other 20
  simulation.network.start(0, 1e-9 * 10, {&use, 1});
  simulation.events.post(5, 0, 0);
  simulation.events.post(20, 0, 0);
  while (simulation.step(log)) {
  }
  using ::testing::ElementsAre;
  using ::testing::Pair;
  EXPECT_THAT(log.said, ElementsAre(Pair(5, 'e'), Pair(20, 'f'), Pair(20, 'f'), Pair(20, 'e')));
}

TEST(LinkGraph, MeasuresHopsAndSplitsWays) {
  LinkGraph const square(4, {{0, 1}, {1, 3}, {2, 3}, {0, 2}});
  EXPECT_EQ(square.hops(0, 0), 0);
  EXPECT_EQ(square.hops(0, 1), 1);
  EXPECT_EQ(square.hops(0, 3), 2);
  EXPECT_EQ(square.diameter(), 2);
  EXPECT_TRUE(square.route(2, 2).empty());
  ASSERT_EQ(square.route(1, 0).size(), 1u);
  EXPECT_EQ(square.route(1, 0)[0].link, 1);  // link 0, back
  double sum = 0;
  for (auto const& part : square.route(0, 3)) {
    EXPECT_EQ(part.share, 0.5);
    sum += part.share;
  }
  EXPECT_EQ(sum, 2);  // of two ways, two links each
}

TEST(LinkGraph, EachRouteCarriesAllOfItsTraffic) {
  Random random(8);
  for (int round = 0; round < 30; ++round) {
    int const n = 2 + random.below(8);
    std::vector<std::pair<int, int>> links;
    for (int d = 1; d < n; ++d) links.emplace_back(random.below(d), d);  // a tree, and then some
    for (int a = 0; a < n; ++a)
      for (int b = a + 2; b < n; ++b)
        if (random.below(4) == 0 &&
            std::find(links.begin(), links.end(), std::pair{a, b}) == links.end())
          links.emplace_back(a, b);
    LinkGraph const graph(n, links);
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) {
        double all = 0;
        std::vector<double> balance(static_cast<std::size_t>(n), 0);
        for (auto const& part : graph.route(a, b)) {
          auto [from, to] = links[static_cast<std::size_t>(part.link / 2)];
          if (part.link % 2 == 1) std::swap(from, to);
          balance[static_cast<std::size_t>(from)] -= part.share;
          balance[static_cast<std::size_t>(to)] += part.share;
          all += part.share;
        }
        EXPECT_NEAR(all, graph.hops(a, b), 1e-12);
        EXPECT_EQ(graph.hops(a, b), graph.hops(b, a));
        for (int d = 0; d < n; ++d)
          EXPECT_NEAR(balance[static_cast<std::size_t>(d)],
                      a == b ? 0 : (d == b ? 1 : (d == a ? -1 : 0)), 1e-12);
      }
  }
}

TEST(LinkGraph, KnowsWhatIsOutOfReach) {
  LinkGraph const graph(3, {{0, 1}});
  EXPECT_EQ(graph.hops(0, 2), -1);
}

}  // namespace
}  // namespace nigh::sim
