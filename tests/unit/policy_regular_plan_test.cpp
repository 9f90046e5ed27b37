// SPDX-License-Identifier: Apache-2.0
// One table of levels for all workers of a regular machine, beside each worker's own plan.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "policy/stealing/steal_order.hpp"
#include "policy/stealing/idle.hpp"

namespace nigh::policy {
namespace {

using Groups = std::vector<RegularLevel>;

// Distances keep levels of one name apart.
VictimPlan plan_of(Groups const& groups, int self) {
  std::vector<Reach> to;
  for (int w = 0; w < groups.back().workers; ++w)
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (w / groups[g].workers == self / groups[g].workers) {
        to.push_back({groups[g].level, static_cast<double>(g)});
        break;
      }
  return victim_plan(self, to);
}

TEST(RegularPlan, NamesTheVictimsOfEachWorkersPlan) {
  Groups const machines[] = {
      {{level::host, 2, 0}},
      {{level::package, 4, 0}, {level::host, 8, 0}},
      {{level::package, 4, 0}, {level::host, 8, 0}, {level::cluster, 40, 0}},
      {{level::core, 2, 0}, {level::l3, 6, 0}, {level::host, 6, 0}, {level::cluster, 18, 0}},
      {{level::host, 3, 0}, {level::cluster, 12, 0}, {level::cluster, 36, 0}},
  };
  for (auto const& groups : machines) {
    auto const all = regular_plan(groups);
    ASSERT_EQ(all.workers, groups.back().workers);
    for (int self = 0; self < all.workers; ++self) {
      auto const plan = plan_of(groups, self);
      ASSERT_EQ(all.attempts_per_round, plan.attempts_per_round);
      ASSERT_EQ(all.topmost, plan.topmost);
      ASSERT_EQ(all.levels.size(), plan.levels.size());
      for (auto choice : {VictimChoice::random, VictimChoice::ring, VictimChoice::hierarchical})
        for (int attempt = 0; attempt < 2 * all.attempts_per_round + 3; ++attempt)
          for (std::uint32_t draw = 0; draw < 8; ++draw) {
            auto const bits = draw == 7 ? 0xffffffffU : draw * 0x9e3779b9U;
            ASSERT_EQ(victim(all, self, choice, attempt, bits), victim(plan, choice, attempt, bits))
                << "worker " << self << " of " << all.workers << ", attempt " << attempt;
          }
    }
  }
}

TEST(RegularPlan, OfAWorkerAloneNamesNobody) {
  EXPECT_EQ(victim(regular_plan({}), 0, VictimChoice::random, 3, 7).worker, -1);
  Groups const alone{{level::host, 1, 0}};
  EXPECT_EQ(victim(regular_plan(alone), 0, VictimChoice::hierarchical, 0, 0).worker, -1);
}

TEST(RegularPlan, ServesAMillionWorkers) {
  Groups const groups{{level::l3, 8, 0}, {level::host, 256, 0}, {level::cluster, 1 << 20, 0}};
  auto const plan = regular_plan(groups);
  int const self = 777'777;
  EXPECT_EQ(plan.levels[2].attempts, 4 * 20);
  for (int attempt = 0; attempt < plan.attempts_per_round; ++attempt) {
    auto const v = victim(plan, self, VictimChoice::hierarchical, attempt, 0x12345678);
    EXPECT_EQ(v.level, level_index(plan, self, v.worker));
    EXPECT_EQ(v.level, attempt < 8 ? 0 : (attempt < 264 ? 1 : 2));
  }
}

TEST(SearchPause, DoublesUpToItsLimit) {
  SearchPause const p{500, 6000};
  std::vector<std::int64_t> pauses;
  for (int failed = 0; failed <= 6; ++failed) pauses.push_back(search_pause_ns(failed, p));
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{0, 500, 1000, 2000, 4000, 6000, 6000}));
  EXPECT_EQ(search_pause_ns(1 << 30, p), 6000);
  EXPECT_EQ(search_pause_ns(4, {500, 100}), 100);
}

}  // namespace
}  // namespace nigh::policy
