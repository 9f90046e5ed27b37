// SPDX-License-Identifier: Apache-2.0
// The victims of a thief, and how much it takes: VictimOrder and ChunkSize for task stacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/steal_order.hpp"
#include "synthetic.hpp"

namespace nigh::policy {
namespace {

using nigh::tests::synthetic;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

std::vector<VictimPlan> plans_for(std::string_view machine, std::vector<int> cpus = {}) {
  auto const t = synthetic(machine);
  if (cpus.empty()) cpus = t.cpus();
  std::vector<VictimPlan> plans;
  for (int w = 0; w < static_cast<int>(cpus.size()); ++w) plans.push_back(victim_plan(w, cpus, t));
  return plans;
}

constexpr char const* machines[] = {
    "pu:1",
    "core:1 pu:2",
    "core:7 pu:1",
    "pack:8 numa:1 core:4 pu:1",
    "pack:2 numa:2 l3:1 l2:2 core:1 pu:2",
    "pack:3 numa:1 l3:2 core:2 pu:2",
    "numa:5 core:1 pu:3",
};

constexpr VictimChoice choices[] = {VictimChoice::random, VictimChoice::ring,
                                    VictimChoice::hierarchical};

// Spread over all 32 bits, ends included.
std::vector<std::uint32_t> draws() {
  std::vector<std::uint32_t> bits{0, 0xffffffff};
  for (std::uint32_t i = 1; i < 64; ++i) bits.push_back(i * 0x9e3779b9u);
  return bits;
}

VictimLevel const& level_of(VictimPlan const& plan, Victim v) {
  return plan.levels[static_cast<std::size_t>(v.level)];
}

TEST(VictimPlan, HoldsEverybodyElseOnceNearestFirst) {
  for (auto const* machine : machines) {
    auto const t = synthetic(machine);
    for (int self = 0; self < static_cast<int>(t.cpus().size()); ++self) {
      auto const plan = victim_plan(self, t.cpus(), t);
      std::vector<int> all{self};
      Reach before{level::cpu, -1};
      int attempts = 0;
      for (auto const& l : plan.levels) {
        ASSERT_FALSE(l.victims.empty());
        Reach reach{};
        for (int v : l.victims) {
          int const here = t.cpus()[static_cast<std::size_t>(self)];
          int const there = t.cpus()[static_cast<std::size_t>(v)];
          reach = {t.common_level(here, there), t.cpu_distance(here, there)};
          ASSERT_EQ(reach.level, l.level) << machine;
          ASSERT_EQ(&plan.levels[plan.level_of[static_cast<std::size_t>(v)]], &l);
          all.push_back(v);
        }
        ASSERT_TRUE(before.level < reach.level ||
                    (before.level == reach.level && before.distance < reach.distance))
            << machine;
        before = reach;
        ASSERT_GE(l.attempts, static_cast<int>(l.victims.size()));
        attempts += l.attempts;
      }
      ASSERT_EQ(plan.attempts_per_round, attempts);
      std::sort(all.begin(), all.end());
      std::vector<int> everybody(t.cpus().size());
      std::iota(everybody.begin(), everybody.end(), 0);
      ASSERT_EQ(all, everybody) << machine;
    }
  }
}

TEST(VictimPlan, OfATreeOfLevels) {
  auto const plan = plans_for("pack:2 numa:2 l3:1 l2:2 core:1 pu:2")[5];
  std::vector<level> levels;
  std::vector<std::vector<int>> victims;
  std::vector<int> attempts;
  for (auto const& l : plan.levels) {
    levels.push_back(l.level);
    victims.push_back(l.victims);
    attempts.push_back(l.attempts);
  }
  EXPECT_THAT(levels, ElementsAre(level::core, level::l3, level::package, level::host));
  EXPECT_THAT(victims, ElementsAre(ElementsAre(4), ElementsAre(6, 7), ElementsAre(0, 1, 2, 3),
                                   ElementsAre(8, 9, 10, 11, 12, 13, 14, 15)));
  EXPECT_THAT(attempts, ElementsAre(2, 4, 8, 16));  // as many as the level has workers
  EXPECT_EQ(plan.topmost, level::host);
}

TEST(VictimPlan, EachLevelIsARingBehindTheThief) {
  auto const plans = plans_for("pack:2 numa:1 core:4 pu:1");
  EXPECT_THAT(plans[2].levels[0].victims, ElementsAre(3, 0, 1));
  EXPECT_THAT(plans[2].levels[1].victims, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(plans[6].levels[0].victims, ElementsAre(7, 4, 5));
  EXPECT_THAT(plans[6].levels[1].victims, ElementsAre(0, 1, 2, 3));
}

// Four sockets in a ring: the two neighbours come before the one across, which is as far up.
TEST(VictimPlan, SplitsTheHostByDistance) {
  auto const t = topology::from_xml(NIGH_TEST_DATA "/topology/four_socket_ring.xml").value();
  std::vector<int> one_of_each;
  for (auto const& d : t.domains()) one_of_each.push_back(d.cpus.front());
  ASSERT_EQ(one_of_each.size(), 4u);
  auto const plan = victim_plan(0, one_of_each, t);
  ASSERT_EQ(plan.levels.size(), 2u);
  EXPECT_EQ(plan.levels[0].level, plan.levels[1].level);
  EXPECT_EQ(plan.levels[0].victims.size(), 2u);
  int const across = plan.levels[1].victims.at(0);
  for (int near : plan.levels[0].victims) EXPECT_LT(t.distance(0, near), t.distance(0, across));
}

TEST(VictimPlan, WorkersOfOneCpuAreTheNearest) {
  auto const plans = plans_for("pack:2 numa:1 core:2 pu:1", {0, 1, 2, 3, 0, 1, 2, 3});
  EXPECT_EQ(plans[1].levels[0].level, level::cpu);
  EXPECT_THAT(plans[1].levels[0].victims, ElementsAre(5));
  EXPECT_THAT(plans[1].levels[1].victims, ElementsAre(4, 0));
  EXPECT_THAT(plans[1].levels[2].victims, UnorderedElementsAre(2, 3, 6, 7));
}

TEST(VictimPlan, FarBeginsBeyondTheDomain) {
  EXPECT_EQ(plans_for("core:8 pu:1")[0].topmost, level::package);  // nobody is that far
  EXPECT_EQ(plans_for("pack:1 numa:4 core:2 pu:1")[0].topmost, level::package);
  EXPECT_EQ(plans_for("pack:2 numa:1 core:2 pu:1")[0].topmost, level::host);
  std::vector<Reach> const cluster{{}, {level::l3, 1}, {level::host, 2}, {level::cluster, 20}};
  EXPECT_EQ(victim_plan(0, cluster).topmost, level::cluster);
}

TEST(VictimPlan, AsksALogarithmAcrossTheCluster) {
  std::vector<Reach> to(4096, {level::cluster, 20});
  for (std::size_t w = 0; w < 8; ++w) to[w] = {w < 4 ? level::l3 : level::host, 1};
  auto const plan = victim_plan(2, to);
  ASSERT_EQ(plan.levels.size(), 3u);
  EXPECT_EQ(plan.levels[0].attempts, 4);
  EXPECT_EQ(plan.levels[1].attempts, 8);
  EXPECT_EQ(plan.levels[2].attempts, 4 * 12);
  EXPECT_EQ(plan.levels[2].victims.size(), 4088u);
}

TEST(Victim, OfAWorkerAloneIsNobody) {
  for (auto choice : choices)
    for (int attempt : {0, 1, 100})
      EXPECT_EQ(victim(plans_for("pu:1")[0], choice, attempt, 0xffffffff), Victim{});
}

TEST(Victim, IsAlwaysAnotherWorkerAtItsLevel) {
  for (auto const* machine : machines)
    for (auto const& plan : plans_for(machine)) {
      if (plan.levels.empty()) continue;
      for (auto choice : choices)
        for (auto bits : draws())
          for (int attempt = 0; attempt < 2 * plan.attempts_per_round + 3; ++attempt) {
            auto const v = victim(plan, choice, attempt, bits);
            ASSERT_NE(v.worker, plan.self);
            ASSERT_TRUE(std::ranges::count(level_of(plan, v).victims, v.worker) == 1)
                << machine << ' ' << to_string(choice);
          }
    }
}

TEST(Victim, HierarchicalAsksEveryVictimOfALevelBeforeTheNextOne) {
  for (auto const* machine : machines)
    for (auto const& plan : plans_for(machine))
      for (auto bits : draws()) {
        int attempt = 0;
        for (std::size_t l = 0; l < plan.levels.size(); ++l) {
          std::set<int> first_asked;
          auto const n = static_cast<int>(plan.levels[l].victims.size());
          for (int i = 0; i < plan.levels[l].attempts; ++i, ++attempt) {
            auto const v = victim(plan, VictimChoice::hierarchical, attempt, bits);
            ASSERT_EQ(v.level, static_cast<int>(l)) << machine;
            if (i < n) first_asked.insert(v.worker);
          }
          ASSERT_EQ(first_asked.size(), static_cast<std::size_t>(n)) << machine;
        }
        if (attempt > 0) {
          ASSERT_EQ(victim(plan, VictimChoice::hierarchical, attempt, bits).level, 0);
        }
      }
}

TEST(Victim, RingGoesAround) {
  auto const plan = plans_for("pack:2 numa:1 core:2 pu:1")[2];
  std::vector<int> asked, levels;
  for (int attempt = 0; attempt < 7; ++attempt) {
    auto const v = victim(plan, VictimChoice::ring, attempt, 12345u * 98765u);
    asked.push_back(v.worker);
    levels.push_back(v.level);
  }
  EXPECT_THAT(asked, ElementsAre(3, 0, 1, 3, 0, 1, 3));
  EXPECT_THAT(levels, ElementsAre(0, 1, 1, 0, 1, 1, 0));
}

// Draws from all over the range meet every victim about equally often.
TEST(Victim, IsDrawnEvenly) {
  constexpr std::uint32_t n = 1 << 16;
  for (auto const* machine : {"pack:2 numa:1 core:3 pu:1", "core:7 pu:1"}) {
    auto const plan = plans_for(machine)[1];
    std::map<int, std::uint32_t> random, nearest;
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint32_t const bits = i << 16;
      ++random[victim(plan, VictimChoice::random, 0, bits).worker];
      ++nearest[victim(plan, VictimChoice::hierarchical, 0, bits).worker];
    }
    ASSERT_EQ(random.size(), static_cast<std::size_t>(plan.workers - 1));
    for (auto const& [worker, times] : random)
      EXPECT_NEAR(times, n / static_cast<unsigned>(plan.workers - 1), 1) << worker;
    auto const& level = plan.levels[0].victims;
    ASSERT_EQ(nearest.size(), level.size());
    for (auto const& [worker, times] : nearest)
      EXPECT_NEAR(times, n / static_cast<unsigned>(level.size()), 1) << worker;
  }
}

TEST(Victim, SuitsThousandsOfWorkers) {
  auto const t = synthetic("pack:16 numa:4 l3:4 core:8 pu:2");
  ASSERT_EQ(t.cpus().size(), 4096u);
  auto const plan = victim_plan(4095, t.cpus(), t);
  EXPECT_EQ(plan.levels.size(), 5u);
  std::set<int> asked;
  for (int attempt = 0; attempt < plan.attempts_per_round; ++attempt)
    asked.insert(victim(plan, VictimChoice::hierarchical, attempt, 0xdeadbeef).worker);
  EXPECT_EQ(asked.size(), 4095u);
}

TEST(ChunkToSteal, AgreesWithTheRuleInWords) {
  constexpr ChunkChoice all[] = {ChunkChoice::one, ChunkChoice::half, ChunkChoice::hierarchical};
  for (auto choice : all)
    for (std::size_t waiting = 0; waiting < 100; ++waiting)
      for (auto where : {level::cpu, level::domain, level::package, level::host, level::cluster})
        for (auto topmost : {level::package, level::host, level::cluster})
          for (std::size_t fixed : {0u, 1u, 4u, 16u})
            for (std::size_t most : {1u, 7u, 32u}) {
              bool const half = choice == ChunkChoice::half ||
                                (choice == ChunkChoice::hierarchical && where >= topmost);
              std::size_t expected = half ? (waiting + 1) / 2 : fixed;
              if (expected > most) expected = most;
              if (expected < 1) expected = 1;
              if (expected > waiting) expected = waiting;
              ASSERT_EQ(chunk_to_steal(choice, waiting, where, topmost, fixed, most), expected)
                  << to_string(choice) << ' ' << waiting << ' ' << to_string(where);
            }
}

TEST(ChunkToSteal, TakesHalfOnlyFromFarAway) {
  auto const plan = plans_for("pack:2 numa:2 l3:1 core:4 pu:1")[0];
  std::vector<std::size_t> taken;
  for (auto const& l : plan.levels)
    taken.push_back(chunk_to_steal(ChunkChoice::hierarchical, 11, l.level, plan.topmost));
  EXPECT_THAT(taken, ElementsAre(1, 1, 6));
}

TEST(StealChoices, HaveNamesBothWays) {
  for (auto choice : choices) EXPECT_EQ(victim_choice_from_string(to_string(choice)), choice);
  EXPECT_EQ(to_string(VictimChoice::ring), "ring");
  EXPECT_EQ(to_string(ChunkChoice::one), "one");
  for (auto choice : {ChunkChoice::one, ChunkChoice::half, ChunkChoice::hierarchical})
    EXPECT_EQ(chunk_choice_from_string(to_string(choice)), choice);
  for (auto const* wrong : {"", "Ring", "rings", "one ", "nearest"}) {
    EXPECT_FALSE(victim_choice_from_string(wrong).has_value()) << wrong;
    EXPECT_FALSE(chunk_choice_from_string(wrong).has_value()) << wrong;
  }
}

std::set<int> reached_from(int rank, int ranks, int base) {
  std::set<int> reached{rank};
  for (std::vector<int> next{rank}; !next.empty();) {
    int const at = next.back();
    next.pop_back();
    for (int const to : lifelines(at, ranks, base))
      if (reached.insert(to).second) next.push_back(to);
  }
  return reached;
}

TEST(lifelines, lead_from_everybody_to_everybody) {
  for (int base : {2, 3, 5})
    for (int ranks = 1; ranks <= 70; ++ranks)
      for (int rank = 0; rank < ranks; ++rank)
        ASSERT_EQ(reached_from(rank, ranks, base).size(), static_cast<std::size_t>(ranks))
            << "from " << rank << " of " << ranks << " to base " << base;
}

TEST(lifelines, are_few_and_to_different_ranks) {
  EXPECT_THAT(lifelines(0, 1), IsEmpty());
  EXPECT_THAT(lifelines(5, 8), ElementsAre(4, 7, 1));
  EXPECT_THAT(lifelines(5, 27, 3), ElementsAre(3, 8, 14));
  EXPECT_THAT(lifelines(4, 5), ElementsAre(0)) << "5 and 6 do not exist";
  for (int rank = 0; rank < 100; ++rank) {
    auto const all = lifelines(rank, 100);
    EXPECT_LE(all.size(), 7u);
    std::set<int> const different(all.begin(), all.end());
    EXPECT_EQ(different.size(), all.size());
    EXPECT_EQ(different.count(rank), 0u);
  }
}

}  // namespace
}  // namespace nigh::policy
