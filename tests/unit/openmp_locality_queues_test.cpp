// SPDX-License-Identifier: Apache-2.0
// The queues with plain threads (which thread sanitizer understands) and, where the compiler has
// OpenMP, as they are meant to be used.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nigh/openmp_locality_queues.hpp>
#include <thread>

#include "policy/stealing/steal_order.hpp"

namespace nigh::openmp {
namespace {

topology machine_of(char const* synthetic) { return topology::from_synthetic(synthetic).value(); }

constexpr char const* four_domains = "pack:4 numa:1 core:2 pu:1";

TEST(OpenmpLocalityQueues, TakeTheOldestBlockOfTheOwnDomainFirst) {
  topology const machine = machine_of(four_domains);
  locality_queues<int> queues(machine);
  queues.enqueue(1, 10);
  queues.enqueue(2, 20);
  queues.enqueue(2, 21);
  std::vector<int> taken;
  auto const note = [&](int block) { taken.push_back(block); };
  EXPECT_TRUE(queues.process_one_in(2, note));
  EXPECT_TRUE(queues.process_one_in(2, note));
  EXPECT_TRUE(queues.process_one_in(2, note));
  EXPECT_FALSE(queues.process_one_in(2, note));
  EXPECT_THAT(taken, testing::ElementsAre(20, 21, 10));
  EXPECT_EQ(queues.counters().local, 2U);
  EXPECT_EQ(queues.counters().remote, 1U);
  EXPECT_DOUBLE_EQ(queues.counters().remote_share(), 1.0 / 3);
  queues.reset_counters();
  EXPECT_EQ(queues.counters().local + queues.counters().remote, 0U);
}

// Two nodes in each package: the sister node is nearer than the other package.
TEST(OpenmpLocalityQueues, AskOtherDomainsInTheOrderOfVictims) {
  topology const machine = machine_of("pack:2 group:2 numa:1 core:1 pu:1");
  auto const domains = static_cast<int>(machine.domains().size());
  ASSERT_EQ(domains, 4);
  for (int self = 0; self < domains; ++self) {
    locality_queues<int> queues(machine);
    for (int d = 0; d < domains; ++d) queues.enqueue(d, d);
    std::vector<int> taken;
    while (queues.process_one_in(self, [&](int d) { taken.push_back(d); })) {
    }
    std::vector<double> distances;
    for (int d = 0; d < domains; ++d) distances.push_back(machine.distance(self, d));
    std::vector<int> expected = policy::victim_order(self, distances);
    expected.insert(expected.begin(), self);
    EXPECT_EQ(taken, expected);
  }
}

TEST(OpenmpLocalityQueues, CallersOutsideEveryDomainFindEveryBlockRemote) {
  topology const machine = machine_of(four_domains);
  locality_queues<int> queues(machine);
  queues.enqueue(3, 7);
  EXPECT_TRUE(queues.process_one_in(-1, [](int block) { EXPECT_EQ(block, 7); }));
  EXPECT_EQ(queues.counters().remote, 1U);
}

TEST(OpenmpLocalityQueues, RefuseDomainsTheMachineDoesNotHave) {
  topology const machine = machine_of(four_domains);
  locality_queues<int> queues(machine);
  EXPECT_THROW(queues.enqueue(4, 0), std::out_of_range);
  EXPECT_THROW(queues.enqueue(-1, 0), std::out_of_range);
  EXPECT_EQ(queues.waiting(), 0U);
}

TEST(OpenmpLocalityQueues, KeepOrderAcrossGrowthAndWraparound) {
  topology const machine = machine_of(four_domains);
  locality_queues<int> queues(machine);
  int in = 0;
  int out = 0;
  for (int burst = 1; burst < 100; ++burst) {
    for (int n = 0; n < burst; ++n) queues.enqueue(1, in++);
    for (int n = 0; n < burst / 2; ++n)
      ASSERT_TRUE(queues.process_one_in(1, [&](int block) { ASSERT_EQ(block, out++); }));
  }
  while (queues.process_one_in(0, [&](int block) { ASSERT_EQ(block, out++); })) {
  }
  EXPECT_EQ(in, out);
}

TEST(OpenmpLocalityQueues, PassOnWhatABlockThrowsAndCountItAsProcessed) {
  topology const machine = machine_of(four_domains);
  locality_queues<int> queues(machine);
  queues.enqueue(0, 1);
  EXPECT_THROW(queues.process_one_in(0, [](int) { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(queues.counters().local, 1U);
  EXPECT_EQ(queues.waiting(), 0U);
}

TEST(OpenmpLocalityQueues, CarryBlocksThatOnlyMove) {
  topology const machine = machine_of(four_domains);
  locality_queues<std::unique_ptr<int>> queues(machine);
  queues.enqueue(0, std::make_unique<int>(5));
  EXPECT_TRUE(queues.process_one_in(0, [](std::unique_ptr<int> const& p) { EXPECT_EQ(*p, 5); }));
}

// (locality_queues.B): every thread enqueues before it takes, so there is always a block for it, and each block is
// processed once.
TEST(OpenmpLocalityQueues, NeverSendAThreadAwayThatEnqueuedFirst) {
  topology const machine = machine_of(four_domains);
  locality_queues<int> queues(machine);
  constexpr int threads = 4;
  constexpr int rounds = 20000;
  std::vector<std::atomic<int>> processed(threads * rounds);
  std::atomic<int> sent_away{0};
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      for (int n = 0; n < rounds; ++n) {
        queues.enqueue((t + n) % 4, t * rounds + n);
        if (!queues.process_one_in(
                t, [&](int block) { ++processed[static_cast<std::size_t>(block)]; }))
          ++sent_away;
      }
    });
  for (std::thread& t : team) t.join();
  EXPECT_EQ(sent_away, 0);
  EXPECT_TRUE(std::all_of(processed.begin(), processed.end(), [](auto& n) { return n == 1; }));
  auto const counters = queues.counters();
  EXPECT_EQ(counters.local + counters.remote, static_cast<std::uint64_t>(threads) * rounds);
}

#if defined(_OPENMP)
// Run once more with OMP_PROC_BIND=close, which pins the initial thread before main().
TEST(OpenmpLocalityQueues, KnowTheDomainsOfThreadsThatOpenmpBinds) {
  topology const machine = topology::live().value();
  std::atomic<int> outside{0};
#pragma omp parallel
  if (machine.domain_of_cpu(current_cpu()) < 0) ++outside;
  EXPECT_EQ(outside, 0);
}

TEST(OpenmpLocalityQueues, GiveEachOpenmpTaskABlock) {
  topology const machine = machine_of(four_domains);
  locality_queues<int> queues(machine);
  constexpr int blocks = 20000;
  std::vector<std::atomic<int>> processed(blocks);
  std::atomic<int> sent_away{0};
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int block = 0; block < blocks; ++block) {
    queues.enqueue(block % 4, block);
#pragma omp task
    if (!queues.process_one([&](int mine) { ++processed[static_cast<std::size_t>(mine)]; }))
      ++sent_away;
  }
  EXPECT_EQ(sent_away, 0);
  EXPECT_EQ(queues.waiting(), 0U);
  EXPECT_TRUE(std::all_of(processed.begin(), processed.end(), [](auto& n) { return n == 1; }));
}
#endif

}  // namespace
}  // namespace nigh::openmp
