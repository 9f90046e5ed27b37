// SPDX-License-Identifier: Apache-2.0
// Ranks that watch each other, in virtual time: whoever is lost is named by everybody else, soon;
// whoever is only late is not; and they leave together.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/watch/ring.hpp"

namespace nigh::cluster {
namespace {

constexpr Time ms = 1000, s = 1000 * ms;
constexpr RingOptions options{.beat_us = 500 * ms, .silence_us = 5 * s};

class RingOfHosts {
 public:
  RingOfHosts(std::vector<bool> edges, std::uint64_t seed)
      : random_(seed), ranks_(static_cast<int>(edges.size())) {
    for (int r = 0; r < ranks_; ++r) all_.push_back({Ring(r, edges, options, now_)});
  }
  static RingOfHosts whole(int ranks, std::uint64_t seed) {
    std::vector<bool> edges(static_cast<std::size_t>(ranks), ranks > 1);
    if (ranks == 2) edges[1] = false;
    return {edges, seed};
  }

  // The misfortunes of ranks.
  void kill(int rank) { end(rank); }
  void stop(int rank, Time until) { at(rank).away_until = until; }
  void part(std::set<int> island) { island_ = std::move(island); }
  void desert(int rank, int witness) {
    post(witness, at(witness).ring.learn_of({rank, RingLoss::How::left, 0}));
  }
  void leave(int rank) { post(rank, at(rank).ring.leave()); }

  void run_until(Time then) {
    for (; now_ < then; now_ += 10 * ms)
      for (int r = 0; r < ranks_; ++r) look(r);
  }
  void run_for(Time span) { run_until(now_ + span); }

  Time now() const { return now_; }
  int size() const { return ranks_; }
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool is_away(int rank) { return now_ <= at(rank).away_until; }
  bool is_gone(int rank) { return at(rank).gone; }
  bool has_left(int rank) { return at(rank).ring.has_left(); }
  std::optional<RingLoss> loss(int rank) { return at(rank).ring.loss(); }
  bool nobody_is_lost() {
    return std::all_of(all_.begin(), all_.end(), [](Host const& h) { return !h.ring.loss(); });
  }

 private:
  struct Arrival {
    Time when;
    bool end;
    RingMessage message;
  };
  struct Host {
    Ring ring;
    std::array<std::deque<Arrival>, 2> inbox{};  // from the left, from the right
    Time away_until = 0;
    bool gone = false;
  };
  Host& at(int rank) { return all_[static_cast<std::size_t>(rank)]; }

  void look(int rank) {
    Host& host = at(rank);
    if (host.gone || now_ < host.away_until) return;
    for (Side const side : {Side::left, Side::right}) {
      auto& inbox = host.inbox[static_cast<std::size_t>(side)];
      while (!inbox.empty() && inbox.front().when <= now_ && !host.gone) {
        auto const arrival = inbox.front();
        inbox.pop_front();
        post(rank, arrival.end ? host.ring.closed(side, now_)
                               : host.ring.received(side, arrival.message, now_));
      }
    }
    if (!host.gone && host.ring.next_tick() <= now_) post(rank, host.ring.tick(now_));
  }

  void post(int rank, Ring::Sends const& sends) {
    for (auto const& send : sends) carry(rank, send.to, {0, false, send.message});
    if (at(rank).ring.loss() || at(rank).ring.has_left()) end(rank);
  }

  void end(int rank) {
    if (at(rank).gone) return;
    at(rank).gone = true;
    for (Side const side : {Side::left, Side::right})
      if (at(rank).ring.is_connected(side)) carry(rank, side, {0, true, {}});
  }

  // In order, as one connection does, within 30 ms; never again once the network is in two.
  void carry(int from, Side to_side, Arrival arrival) {
    int const to = neighbour(from, ranks_, to_side);
    if (island_.contains(from) != island_.contains(to)) return;
    auto& inbox = at(to).inbox[to_side == Side::left ? 1 : 0];
    arrival.when = now_ + below(30) * ms;
    if (!inbox.empty()) arrival.when = std::max(arrival.when, inbox.back().when);
    inbox.push_back(arrival);
  }

  std::mt19937_64 random_;
  int ranks_;
  Time now_ = 7 * s;
  std::vector<Host> all_;
  std::set<int> island_;
};

void for_many_rings(std::function<void(RingOfHosts&)> const& check) {
  for (int const ranks : {2, 3, 4, 9})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE("ranks " + std::to_string(ranks) + ", seed " + std::to_string(seed));
      RingOfHosts hosts = RingOfHosts::whole(ranks, seed);
      hosts.run_for(hosts.below(4000) * ms);
      ASSERT_TRUE(hosts.nobody_is_lost());
      check(hosts);
    }
}

TEST(ClusterRing, OneThatEndsIsNamedByAllAtOnce) {
  for_many_rings([](RingOfHosts& hosts) {
    int const victim = hosts.below(hosts.size());
    hosts.kill(victim);
    hosts.run_for(s);
    for (int r = 0; r < hosts.size(); ++r) {
      if (r == victim) continue;
      ASSERT_TRUE(hosts.loss(r));
      EXPECT_EQ(hosts.loss(r)->rank, victim);
      EXPECT_EQ(hosts.loss(r)->how, RingLoss::How::ended);
      EXPECT_LT(hosts.loss(r)->silent_us, s);
    }
  });
}

TEST(ClusterRing, OneThatLeavesAloneIsNamedByAllAndByItself) {
  for_many_rings([](RingOfHosts& hosts) {
    int const deserter = hosts.below(hosts.size());
    hosts.leave(deserter);
    hosts.run_for(hosts.below(1000) * ms);
    ASSERT_TRUE(hosts.nobody_is_lost());
    hosts.desert(deserter, hosts.below(hosts.size()));
    hosts.run_for(s);
    RingLoss const expected{deserter, RingLoss::How::left, 0};
    for (int r = 0; r < hosts.size(); ++r) EXPECT_EQ(hosts.loss(r), expected) << r;
  });
}

TEST(ClusterRing, OneThatIsSilentIsNamedByAllAfterItsTime) {
  for_many_rings([](RingOfHosts& hosts) {
    int const victim = hosts.below(hosts.size());
    Time const stopped = hosts.now();
    hosts.stop(victim, stopped + 20 * s);
    hosts.run_until(stopped + 4 * s);
    EXPECT_TRUE(hosts.nobody_is_lost()) << "it has time";
    hosts.run_until(stopped + 7 * s);
    for (int r = 0; r < hosts.size(); ++r) {
      if (r == victim) continue;
      ASSERT_TRUE(hosts.loss(r));
      EXPECT_EQ(hosts.loss(r)->rank, victim);
      EXPECT_EQ(hosts.loss(r)->how, RingLoss::How::silent);
      EXPECT_GE(hosts.loss(r)->silent_us, options.silence_us);
    }
    hosts.run_until(stopped + 21 * s);
    ASSERT_TRUE(hosts.loss(victim)) << "ends, too, when it goes on";
    EXPECT_EQ(hosts.loss(victim)->rank, victim) << "and has been told so";
  });
}

TEST(ClusterRing, WhenTheNetworkFallsApartBothPartsEnd) {
  for_many_rings([](RingOfHosts& hosts) {
    std::set<int> island;
    while (island.empty() || static_cast<int>(island.size()) == hosts.size()) {
      island.clear();
      for (int r = 0; r < hosts.size(); ++r)
        if (hosts.below(2) == 0) island.insert(r);
    }
    hosts.part(island);
    hosts.run_for(7 * s);
    for (int r = 0; r < hosts.size(); ++r) {
      ASSERT_TRUE(hosts.loss(r));
      // Of two islands in one part, either may have been heard of first; somebody's neighbour it
      // is.
      EXPECT_EQ(hosts.loss(r)->how, RingLoss::How::silent);
      EXPECT_NE(hosts.loss(r)->rank, r);
    }
  });
}

TEST(ClusterRing, OfSeveralAtOnceEverybodyNamesOne) {
  for_many_rings([](RingOfHosts& hosts) {
    std::set<int> victims;
    for (int i = 0; i < hosts.size() / 2; ++i) {
      int const victim = hosts.below(hosts.size());
      if (!victims.insert(victim).second) continue;
      if (hosts.below(2) == 0)
        hosts.kill(victim);
      else
        hosts.stop(victim, hosts.now() + 1000 * s);
    }
    hosts.run_for(7 * s);
    for (int r = 0; r < hosts.size(); ++r) {
      if (victims.contains(r)) continue;
      ASSERT_TRUE(hosts.loss(r));
      EXPECT_TRUE(victims.contains(hosts.loss(r)->rank));
    }
  });
}

TEST(ClusterRing, WhoIsLateIsNotLost) {
  for_many_rings([](RingOfHosts& hosts) {
    for (int i = 0; i < 20; ++i) {
      for (int r = 0; r < hosts.size(); ++r)
        if (!hosts.is_away(r) && hosts.below(2) == 0)
          hosts.stop(r, hosts.now() + hosts.below(4000) * ms);
      hosts.run_for(1500 * ms);
    }
    EXPECT_TRUE(hosts.nobody_is_lost());
  });
}

TEST(ClusterRing, WhoWasAwayDoesNotTakeOthersForLost) {
  for_many_rings([](RingOfHosts& hosts) {
    Time const back = hosts.now() + 600 * s;
    for (int r = 0; r < hosts.size(); ++r) hosts.stop(r, back + hosts.below(4000) * ms);
    hosts.run_until(back + 20 * s);
    EXPECT_TRUE(hosts.nobody_is_lost()) << "after all hosts were suspended";
  });
}

TEST(ClusterRing, AllLeaveTogether) {
  for_many_rings([](RingOfHosts& hosts) {
    int const last = hosts.below(hosts.size());
    for (int r = 0; r < hosts.size(); ++r) {
      if (r == last) continue;
      hosts.run_for(hosts.below(9000) * ms);
      hosts.leave(r);
    }
    hosts.run_for(20 * s);
    for (int r = 0; r < hosts.size(); ++r) EXPECT_FALSE(hosts.is_gone(r)) << "one is at work";
    hosts.leave(last);
    hosts.run_for(2 * s);
    for (int r = 0; r < hosts.size(); ++r) EXPECT_TRUE(hosts.has_left(r));
    EXPECT_TRUE(hosts.nobody_is_lost());
  });
}

TEST(ClusterRing, WhoWaitsToLeaveIsToldOfALoss) {
  for_many_rings([](RingOfHosts& hosts) {
    int const victim = hosts.below(hosts.size());
    for (int r = 0; r < hosts.size(); ++r)
      if (r != victim) hosts.leave(r);
    hosts.run_for(8 * s);
    hosts.kill(victim);
    hosts.run_for(s);
    for (int r = 0; r < hosts.size(); ++r)
      if (r != victim) {
        ASSERT_TRUE(hosts.loss(r));
        EXPECT_EQ(hosts.loss(r)->rank, victim);
      }
  });
}

TEST(ClusterRing, WhereNeighboursCannotConnectTheRestIsWatched) {
  constexpr int ranks = 5;
  for (unsigned missing = 0; missing < 1U << ranks; ++missing) {
    std::vector<bool> edges;
    for (unsigned e = 0; e < ranks; ++e) edges.push_back((missing >> e & 1) == 0);
    RingOfHosts hosts(edges, missing);
    for (int r = 0; r < ranks; ++r) hosts.leave(r);
    hosts.run_for(2 * s);
    for (int r = 0; r < ranks; ++r) EXPECT_TRUE(hosts.has_left(r)) << missing << ' ' << r;
    EXPECT_TRUE(hosts.nobody_is_lost()) << missing;

    RingOfHosts others(edges, missing);
    others.run_for(s);
    others.kill(2);
    others.run_for(s);
    for (int r = 0; r < ranks; ++r) {
      if (r == 2) continue;
      bool rightward = true, leftward = true;  // from 2, is there a connection all the way to r?
      for (int i = 2; i != r; i = (i + 1) % ranks) rightward &= edges[static_cast<unsigned>(i)];
      for (int i = r; i != 2; i = (i + 1) % ranks) leftward &= edges[static_cast<unsigned>(i)];
      EXPECT_EQ(others.loss(r).has_value(), rightward || leftward) << missing << ' ' << r;
    }
  }
}

TEST(ClusterRing, OneRankHasNobodyToWaitFor) {
  RingOfHosts alone = RingOfHosts::whole(1, 1);
  alone.run_for(20 * s);
  alone.leave(0);
  EXPECT_TRUE(alone.has_left(0));
}

}  // namespace
}  // namespace nigh::cluster
