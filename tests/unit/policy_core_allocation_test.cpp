// SPDX-License-Identifier: Apache-2.0
// CoreAllocation: the paper's rules, small machines exhaustively against brute force, and the
// distances that each policy reaches.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <tuple>
#include <vector>

#include "machines.hpp"
#include "policy/cpus/core_allocation.hpp"
#include "sim/team_requests.hpp"

namespace nigh::policy {
namespace {

constexpr CoreAllocation all_policies[] = {CoreAllocation::simple, CoreAllocation::nearest,
                                           CoreAllocation::clustered,
                                           CoreAllocation::clustered_adjusting};

// One level of sets, so far apart as their numbers are.
CoreMap row_of_sets(std::vector<int> sizes) {
  CoreMap::Parts parts;
  for (int s : sizes)
    for (int i = 0; i < s; ++i) parts.cpus.push_back(static_cast<int>(parts.cpus.size()));
  auto const n = sizes.size();
  parts.levels = {std::move(sizes)};
  parts.within = {1};
  for (std::size_t a = 0; a < n; ++a) {
    parts.between.emplace_back();
    for (std::size_t b = 0; b < n; ++b)
      parts.between.back().push_back(10.0 * static_cast<double>(a > b ? a - b : b - a));
  }
  return CoreMap(std::move(parts));
}

CoreMap map_of(char const* synthetic) {
  auto const machine = topology::from_synthetic(synthetic);
  EXPECT_TRUE(machine.ok());
  return CoreMap::of(*machine);
}

PositionSet set_of(CoreMap const& map, std::vector<int> const& members) {
  PositionSet set(map.size());
  for (int p : members) set.add(p);
  return set;
}

// So many cpus, no matter how loaded the machine is.
CoreDecision choose(CoreMap const& map, CoreAllocation how, PositionSet const& free, int threads,
                    int place) {
  return decide(map, {.how = how}, free, {{threads, threads}, place});
}

void expect_sound(CoreMap const& map, PositionSet const& free, CoreRequest const& request,
                  CoreDecision const& d) {
  ASSERT_LE(d.positions.size(), static_cast<std::size_t>(request.demand.maximum));
  ASSERT_GE(d.wanted, request.demand.optimal);
  ASSERT_LE(d.wanted, request.demand.maximum);
  auto left = free;
  for (int p : d.positions) {
    ASSERT_TRUE(left.has(p)) << "cpu " << map.cpu(p) << " was not free, or is given twice";
    left.remove(p);
  }
  if (!d.waits() && free.has(request.place)) {
    ASSERT_EQ(d.positions[0], request.place);
  }
}

TEST(PositionSet, CountsWithinAnyRange) {
  std::mt19937 random(5);
  PositionSet set(200);
  std::vector<int> members;
  for (int p = 0; p < 200; ++p)
    if (random() % 3 == 0) set.add(p), members.push_back(p);
  for (int begin = 0; begin < 200; ++begin)
    for (int end = begin; end <= 200; ++end) {
      auto const first = std::lower_bound(members.begin(), members.end(), begin);
      auto const last = std::lower_bound(members.begin(), members.end(), end);
      ASSERT_EQ(set.count({begin, end}), last - first);
      ASSERT_EQ(set.next(begin, end), first == last ? end : *first);
    }
}

TEST(CoreMap, KeepsLevelsThatDiffer) {
  auto const map = map_of("pack:2 numa:2 l3:2 core:4 pu:2");
  EXPECT_EQ(map.size(), 64);
  ASSERT_EQ(map.levels(), 4);
  EXPECT_EQ(map.sets(0), 8);  // L3
  EXPECT_EQ(map.sets(1), 4);  // domains
  EXPECT_EQ(map.sets(2), 2);  // packages
  EXPECT_EQ(map.sets(3), 1);
  EXPECT_EQ(map.domain_level(), 1);
  EXPECT_EQ(map.around(1, 20), (Range{16, 32}));
  EXPECT_EQ(map.first_of_core().count(), 32);
  EXPECT_LT(map.distance(0, 3), map.distance(0, 9));
  EXPECT_LT(map.distance(0, 9), map.distance(0, 16));
  EXPECT_LT(map.distance(0, 16), map.distance(0, 32));
  EXPECT_EQ(map.distance(7, 7), 0);
}

TEST(CoreMap, OfOneDomainHasOneLevel) {
  auto const map = map_of("pack:1 core:4 pu:1");
  EXPECT_EQ(map.levels(), 1);
  EXPECT_EQ(map.domains(), 1);
  EXPECT_EQ(map.around(0, 2), (Range{0, 4}));
}

TEST(CoreMap, NumbersCpusAsTheyLie) {
  auto const whole = topology::from_synthetic("pack:2 core:4 pu:1");
  auto const some = whole->restricted_to(std::vector<int>{1, 3, 6});
  ASSERT_TRUE(some.ok());
  auto const map = CoreMap::of(*some);
  EXPECT_EQ(map.size(), 3);
  EXPECT_EQ(map.cpu(2), 6);
  EXPECT_EQ(map.position(6), 2);
  for (int absent : {-1, 0, 2, 7, 1000}) EXPECT_EQ(map.position(absent), -1);
}

TEST(CoreMap, SocketsOfTheX4600AreAtMostThreeHopsApart) {
  auto const map = tests::core_map("sun-x4600");
  EXPECT_EQ(map.distance(0, 3), 1);
  EXPECT_EQ(map.distance(0, 4), 10);
  EXPECT_EQ(map.distance(0, 31), 30);
  EXPECT_EQ(map.domains_from(5).front(), 5);
}

TEST(ThreadCount, GrowsWithTheFreePartOfTheMachine) {
  EXPECT_EQ(threads_wanted({32, 16}, {32, 32}), 32);
  EXPECT_EQ(threads_wanted({32, 16}, {16, 32}), 24);
  EXPECT_EQ(threads_wanted({32, 16}, {1, 32}), 17);  // 16.5
}

TEST(ThreadCount, ShrinksOrWaitsAsTold) {
  for (int free = 0; free <= 16; ++free)
    for (int percent : {0, 50, 100}) {
      ThreadDemand const demand{16, 8};
      int const fewest = fewest_threads(demand, 16, {percent});
      auto const count = thread_count(demand, {free, 16}, fewest);
      EXPECT_EQ(count.granted == 0, free < std::max(1, 8 * percent / 100))
          << free << ' ' << percent;
      EXPECT_LE(count.granted, free);
    }
}

TEST(ThreadCount, LeavesOthersTheirPart) {
  for (int waiting = 0; waiting < 40; ++waiting) {
    auto const count = thread_count({32, 32}, {32, 32, waiting}, 1);
    EXPECT_GE(count.granted, 1);
    EXPECT_LE((count.granted - 1) * (waiting + 1), 31);
  }
}

TEST(CoreAllocation, NearestTakesTheSocketThenItsNeighbours) {
  auto const map = tests::core_map("sun-x4600");
  auto const d = choose(map, CoreAllocation::nearest, PositionSet::all(32), 6, 13);
  EXPECT_EQ(d.positions, (std::vector<int>{13, 14, 15, 12, 16, 17}));  // a neighbour of socket 3
}

// Two of four cores are free at home. Four more are wanted.
TEST(CoreAllocation, ClusteredPrefersAnExactFitThenMoreThenAnEmptySet) {
  auto const map = row_of_sets({4, 8, 8, 8});
  auto free = set_of(map, {0, 1});
  auto const add = [&](int begin, int count) {
    for (int p = begin; p < begin + count; ++p) free.add(p);
  };
  auto const others = [&] {
    auto const d = choose(map, CoreAllocation::clustered, free, 6, 0);
    return std::vector<int>(d.positions.begin() + 2, d.positions.end());
  };
  add(4, 8);  // nearest, but empty
  EXPECT_EQ(others(), (std::vector<int>{4, 5, 6, 7}));
  add(20, 5);  // has more than required
  EXPECT_EQ(others(), (std::vector<int>{20, 21, 22, 23}));
  add(12, 4);  // fits exactly
  EXPECT_EQ(others(), (std::vector<int>{12, 13, 14, 15}));
}

TEST(CoreAllocation, ClusteredUsesUpTheLargestWhereNoneHasEnough) {
  auto const map = row_of_sets({4, 4, 4, 4});
  auto const d =
      choose(map, CoreAllocation::clustered, set_of(map, {0, 4, 5, 8, 9, 10, 12, 13}), 6, 0);
  EXPECT_EQ(set_of(map, d.positions), set_of(map, {0, 8, 9, 10, 4, 5}));
}

TEST(CoreAllocation, AdjustingClosesGaps) {
  auto const map = row_of_sets({4, 4, 4});
  auto const all = PositionSet::all(12);
  auto const threads = [&](ThreadDemand demand, PositionSet const& free) {
    return decide(map, {.how = CoreAllocation::clustered_adjusting}, free, {demand, 0})
        .positions.size();
  };
  EXPECT_EQ(threads({5, 5}, all), 4u);                        // no second set for one thread
  EXPECT_EQ(threads({3, 3}, all), 3u);                        // never more than it can use
  EXPECT_EQ(threads({4, 2}, set_of(map, {0, 1, 2, 3})), 4u);  // N = 3 would leave one cpu
  EXPECT_EQ(threads({6, 6}, all), 6u);                        // two are no little change
}

TEST(CoreAllocation, AdjustingTakesNothingFromThoseWhoWait) {
  auto const map = row_of_sets({4, 4});
  auto const d = decide(map, {.how = CoreAllocation::clustered_adjusting},
                        set_of(map, {0, 1, 2, 3}), {{4, 4}, 0}, 1);
  EXPECT_EQ(d.positions.size(), 2u);
}

TEST(CoreAllocation, GivesOneCpuOfEachCoreFirst) {
  auto const map = map_of("pack:2 core:4 pu:2");
  for (auto how : all_policies) {
    auto const team = set_of(map, choose(map, how, PositionSet::all(16), 4, 2).positions);
    EXPECT_EQ(team, set_of(map, {0, 2, 4, 6})) << to_string(how);
  }
}

TEST(CoreAllocation, WhoseMasterHasNoPlaceIsServedToo) {
  auto const map = row_of_sets({4, 4, 4});
  for (auto how : all_policies)
    for (int place : {-1, 0}) {
      auto const free = set_of(map, {5, 6, 7, 8, 9});
      auto const d = choose(map, how, free, 3, place);
      EXPECT_EQ(d.positions.size(), 3u) << to_string(how);
      expect_sound(map, free, {{3, 3}, place}, d);
    }
  EXPECT_TRUE(choose(map, CoreAllocation::nearest, PositionSet(12), 3, 0).waits());
}

// Every set of free cpus, place and number of threads on a machine of eight cpus.
template <class Check>  // (free, mask, threads, place)
void for_each_state(CoreMap const& map, Check check) {
  for (unsigned mask = 1; mask < 1u << map.size(); ++mask) {
    PositionSet free(map.size());
    for (int p = 0; p < map.size(); ++p)
      if ((mask >> p & 1) != 0) free.add(p);
    for (int place = 0; place < map.size(); ++place)
      for (int threads = 1; threads <= free.count(); ++threads) check(free, mask, threads, place);
  }
}

TEST(CoreAllocation, NearestIsAsNearAsCanBe) {
  auto const map = row_of_sets({3, 3, 2});
  for_each_state(map, [&](PositionSet const& free, unsigned, int threads, int place) {
    auto const d = choose(map, CoreAllocation::nearest, free, threads, place);
    expect_sound(map, free, {{threads, threads}, place}, d);
    std::vector<double> possible, found;
    for (int p = 0; p < map.size(); ++p)
      if (free.has(p)) possible.push_back(map.distance(place, p));
    std::sort(possible.begin(), possible.end());
    possible.resize(static_cast<std::size_t>(threads));
    for (int p : d.positions) found.push_back(map.distance(place, p));
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, possible);
  });
}

// Of all teams that use up the leader's set first: as few sets as can be, then as few of them left
// with a gap, then as few empty ones broken into.
TEST(CoreAllocation, ClusteredTouchesAndBreaksAsFewSetsAsCanBe) {
  auto const map = row_of_sets({3, 3, 2});
  auto const cost = [&](unsigned free, unsigned team, int place) {
    int touched = 0, gaps = 0, broken = 0;
    for (int s = 0; s < map.sets(0); ++s) {
      Range const set = map.set(0, s);
      unsigned const in = ((1u << set.size()) - 1) << set.begin;
      if ((team & in) == 0) continue;
      bool const gap = (free & in) != (team & in);
      ++touched;
      if (!set.has(place)) gaps += gap ? 1 : 0;
      if (!set.has(place)) broken += gap && (free & in) == in ? 1 : 0;
    }
    return std::tuple(touched, gaps, broken);
  };
  for_each_state(map, [&](PositionSet const& free, unsigned mask, int threads, int place) {
    auto const d = choose(map, CoreAllocation::clustered, free, threads, place);
    expect_sound(map, free, {{threads, threads}, place}, d);
    ASSERT_EQ(d.positions.size(), static_cast<std::size_t>(threads));
    if (!free.has(place)) return;
    Range const home = map.around(0, place);
    unsigned const in = ((1u << home.size()) - 1) << home.begin;
    auto best = std::tuple(99, 99, 99);
    for (unsigned team = mask; team != 0; team = (team - 1) & mask) {
      bool const stays = (team & in) == (mask & in) || (team & ~in) == 0;
      if (std::popcount(team) == threads && stays && (team >> place & 1) != 0)
        best = std::min(best, cost(mask, team, place));
    }
    unsigned team = 0;
    for (int p : d.positions) team |= 1u << p;
    ASSERT_EQ(cost(mask, team, place), best)
        << "free " << mask << " team " << team << " place " << place;
  });
}

TEST(CoreAllocation, AdjustingChangesLittleAndNeverSpreadsWider) {
  auto const map = row_of_sets({3, 3, 2});
  auto const sets = [&](std::vector<int> const& team) {
    std::vector<int> touched;
    for (int p : team) touched.push_back(map.set_of(0, p));
    std::sort(touched.begin(), touched.end());
    return std::unique(touched.begin(), touched.end()) - touched.begin();
  };
  for_each_state(map, [&](PositionSet const& free, unsigned, int threads, int place) {
    CoreRequest const request{{threads + 1, threads}, place};
    auto const plain = decide(map, {.how = CoreAllocation::clustered}, free, request).positions;
    auto const d = decide(map, {.how = CoreAllocation::clustered_adjusting}, free, request);
    expect_sound(map, free, request, d);
    auto const change = static_cast<int>(d.positions.size()) - static_cast<int>(plain.size());
    ASSERT_LE(std::abs(change), 1);
    ASSERT_LE(sets(d.positions), sets(plain));
  });
}

TEST(TeamOrder, NamesEveryMemberOnceNearOnesInARow) {
  auto const map = map_of("pack:4 numa:2 l3:2 core:4 pu:1");
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    PositionSet team(map.size());
    for (int n = 1 + static_cast<int>(random() % 40); n > 0; --n)
      team.add(static_cast<int>(random() % static_cast<unsigned>(map.size())));
    int const place = static_cast<int>(random() % static_cast<unsigned>(map.size()));
    auto order = team_order(map, team, place);
    int changes = 0, domains = 0;
    for (std::size_t i = 1; i < order.size(); ++i)
      changes +=
          map.set_of(map.domain_level(), order[i]) != map.set_of(map.domain_level(), order[i - 1])
              ? 1
              : 0;
    for (int d = 0; d < map.domains(); ++d)
      domains += team.count(map.set(map.domain_level(), d)) > 0 ? 1 : 0;
    ASSERT_EQ(changes, domains - 1) << "each domain is visited once";
    ASSERT_EQ(set_of(map, order), team);
    ASSERT_EQ(order.size(), static_cast<std::size_t>(team.count()));
    if (team.has(place)) {
      ASSERT_EQ(order[0], place);
    }
  }
  EXPECT_TRUE(team_order(map, PositionSet(map.size()), 0).empty());
}

TEST(CoreAllocation, IsSoundOnAnyMachine) {
  char const* const machines[] = {"pack:1 core:2 pu:1", "pack:2 numa:2 l3:2 core:3 pu:2",
                                  "pack:3 l3:4 l2:2 core:2 pu:2", "numa:2 pack:2 core:4 pu:1",
                                  "pack:4 numa:4 l3:2 core:8 pu:2"};
  unsigned const seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  auto const below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (auto const* machine : machines) {
    auto const map = map_of(machine);
    for (int round = 0; round < 500; ++round) {
      PositionSet free(map.size());
      int const density = 1 + below(4);
      for (int p = 0; p < map.size(); ++p)
        if (below(density) == 0) free.add(p);
      int const maximum = 1 + below(map.size() + 3);
      CoreRequest const request{{maximum, 1 + below(maximum)}, below(map.size() + 1) - 1};
      for (auto how : all_policies) {
        CoreAllocationOptions const options{how, {50 * below(3)}, below(60)};
        int const waiting = below(3);
        auto const d = decide(map, options, free, request, waiting);
        expect_sound(map, free, request, d);
        ASSERT_EQ(d, decide(map, options, free, request, waiting)) << "the same twice";
        if (options.scarcity.least_percent == 0) {
          ASSERT_EQ(d.waits(), free.empty());
        }
      }
    }
  }
}

// The paper: the enhanced clustering reduces the local distance by 70%.
TEST(CoreAllocation, AdjustingKeepsTeamsTogetherOnThePapersMachine) {
  auto const map = tests::core_map("sun-x4600");
  auto const play = [&](CoreAllocation how) {
    return sim::play_requests(map, 6, 10000, 2010,
                              [&](PositionSet const& free, CoreRequest const& request) {
                                return decide(map, {.how = how}, free, request);
                              });
  };
  sim::Random random(1);
  auto const scattered = sim::play_requests(
      map, 6, 10000, 2010, [&](PositionSet const& free, CoreRequest const& request) {
        return sim::scattered(map, free, request, random);
      });
  auto const simple = play(CoreAllocation::simple);
  auto const nearest = play(CoreAllocation::nearest);
  auto const clustered = play(CoreAllocation::clustered);
  auto const adjusting = play(CoreAllocation::clustered_adjusting);
  EXPECT_LT(simple.local_per_link(), 0.5 * scattered.local_per_link());
  EXPECT_LT(nearest.local_per_link(), 0.85 * simple.local_per_link());
  EXPECT_LT(clustered.local_per_link(), 0.95 * nearest.local_per_link());
  EXPECT_LE(adjusting.local_per_link(), 0.85 * nearest.local_per_link());
  EXPECT_LE(adjusting.local_per_link(), 0.35 * scattered.local_per_link());
  EXPECT_LT(adjusting.miss_rate(), clustered.miss_rate() + 0.04);
}

}  // namespace
}  // namespace nigh::policy
