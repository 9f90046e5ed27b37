// SPDX-License-Identifier: Apache-2.0
// Which threads of a team a thread without tasks takes tasks from, and how many.

#include "openmp/tasks/victims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>

#include "openmp_engine.hpp"

namespace nigh::test {
namespace {

using testing::ElementsAre;

constexpr auto at(level l) { return static_cast<std::size_t>(l); }

TEST(OpenmpTasksVictims, AreAsFarAsWhatTheyShareWithTheThief) {
  auto const level_to = [](int cpu) { return reach_of(0, cpu).level; };
  EXPECT_EQ(level_to(0), level::cpu);
  EXPECT_EQ(level_to(1), level::core);
  EXPECT_EQ(level_to(2), level::l3);
  EXPECT_EQ(level_to(4), level::domain);
  EXPECT_EQ(level_to(8), level::package);
  EXPECT_EQ(level_to(16), level::host);
  EXPECT_LT(reach_of(0, 8).distance, reach_of(0, 16).distance);
  EXPECT_EQ(reach_of(0, -1).level, level::host);
  EXPECT_GT(reach_of(0, -1).distance, reach_of(0, 16).distance);
}

// A round of the calling thread, as at a barrier; what it finds is run.
void one_round() {
  Member& me = *member;
  Task* const tied = std::exchange(me.tied, nullptr);
  taskyield(me);
  me.tied = tied;
}

// Each thread but the first makes so many tasks, which say who made them; then the first one runs rounds.
// `before` is what the first thread does ahead of that.
template <class Before>
std::vector<std::uint32_t> order_of_thefts(std::vector<int> const& cpus, int tasks, std::uint32_t seed,
                                           Before before) {
  std::vector<std::uint32_t> taken;
  std::barrier<> step(static_cast<std::ptrdiff_t>(cpus.size()));
  in_team(cpus, [&](std::uint32_t k) {
    Member& me = *member;
    step.arrive_and_wait();  // all have entered
    if (k == 0) {
      me.random = seed;
      before();
    }
    step.arrive_and_wait();
    if (k != 0) {
      for (int i = 0; i < tasks; ++i) me.deque.push(&make_task([&taken, k] { taken.push_back(k); }));
      share_all(me);
    }
    step.arrive_and_wait();
    if (k == 0)
      for (std::size_t i = 1; i < cpus.size(); ++i)
        for (int n = 0; n < tasks; ++n) one_round();
    step.arrive_and_wait();
  });
  return taken;
}

void nothing() {}

TEST(OpenmpTasksVictims, NearestFirstWhateverTheirNumbers) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    EXPECT_THAT(order_of_thefts({0, 1, 2, 4, 8, 16}, 1, seed, nothing), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_THAT(order_of_thefts({0, 16, 8, 4, 2, 1}, 1, seed, nothing), ElementsAre(5, 4, 3, 2, 1));
    EXPECT_THAT(order_of_thefts({20, 1, 17, -1, 22, 24}, 1, seed, nothing), ElementsAre(4, 2, 5, 1, 3));
  }
}

TEST(OpenmpTasksVictims, EquallyNearOnesAtRandom) {
  std::vector<int> first(3, 0);
  for (std::uint32_t seed = 1; seed <= 60; ++seed)
    ++first[order_of_thefts({0, 8, 9}, 1, seed * 0x9e3779b9U, nothing).front()];
  EXPECT_GT(first[1], 10);
  EXPECT_GT(first[2], 10);
}

TEST(OpenmpTasksVictims, AThreadThatHasMovedLooksAroundAnewBeforeLong) {
  auto const moves = [] {
    one_round();  // from cpu 0
    run_on(30);
    for (int i = 0; i < 200; ++i) one_round();
  };
  EXPECT_THAT(order_of_thefts({0, 1, 31}, 1, 7, moves), ElementsAre(2, 1));
}

TEST(OpenmpTasksVictims, AFewFromNearAndHalfFromFar) {
  for (auto const& [cpu, where, count] :
       {std::tuple(1, level::core, 4U), std::tuple(4, level::domain, 4U), std::tuple(8, level::package, 10U),
        std::tuple(16, level::host, 10U)}) {
    std::array<std::uint64_t, Counts::levels> stolen{};
    std::barrier<> step(2);
    in_team({0, cpu}, [&](std::uint32_t k) {
      Member& me = *member;
      if (k == 1) {
        for (int i = 0; i < 20; ++i) me.deque.push(&make_task([] {}));
        share_all(me);
      }
      step.arrive_and_wait();
      if (k == 0) {
        me.counts = {};
        one_round();
        stolen = me.counts.stolen;
      }
      step.arrive_and_wait();
    });
    EXPECT_EQ(stolen[at(where)], count) << "from cpu " << cpu;
  }
}

}  // namespace
}  // namespace nigh::test
