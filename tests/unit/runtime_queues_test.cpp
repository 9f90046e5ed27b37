// SPDX-License-Identifier: Apache-2.0
// Locality queues of caches and cores instead of domains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nigh/runtime.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "synthetic.hpp"

namespace {

using nigh::tests::synthetic;
using nigh::level;
using nigh::near;
using nigh::runtime;
using ::testing::ElementsAre;

// Two domains of two caches, of two cores or one.
nigh::topology two_by_two_by_two() { return synthetic("pack:2 numa:1 l3:2 core:2 pu:1"); }
nigh::topology two_by_two() { return synthetic("pack:2 numa:1 l3:2 core:1 pu:1"); }

// Two tasks for a queue with one worker, each of which waits for the other, so that another queue's
// worker has to take one. Returns the workers that ran them.
std::set<int> queues_that_served(runtime& rt, int queue) {
  std::atomic<int> here{0};
  std::atomic<int> served[2];
  for (auto& by : served)
    rt.spawn(near::at_queue(queue), [&here, &by] {
      by = nigh::this_worker::queue();
      ++here;
      while (here < 2) std::this_thread::yield();
    });
  rt.wait();
  return {served[0], served[1]};
}

TEST(QueueLevel, EveryCacheHasAQueueOfItsOwn) {
  auto const m = two_by_two_by_two();
  runtime rt({.machine = &m, .queue_level = level::l3});
  EXPECT_EQ(rt.queues(), 4);
  EXPECT_THAT(rt.queues_of(0), ElementsAre(0, 1));
  EXPECT_THAT(rt.queues_of(1), ElementsAre(2, 3));
  EXPECT_EQ(rt.domain_of_queue(1), 0);
  EXPECT_EQ(rt.domain_of_queue(2), 1);
  EXPECT_THROW(rt.domain_of_queue(4), std::out_of_range);
  EXPECT_THROW(rt.queues_of(2), std::out_of_range);

  EXPECT_EQ(runtime({.machine = &m}).queues(), 2);
  EXPECT_EQ(runtime({.machine = &m, .queue_level = level::core}).queues(), 8);
  EXPECT_EQ(runtime({.machine = &m, .queue_level = level::l2}).queues(), 4) << "there is no L2";
  EXPECT_EQ(runtime({.machine = &m, .workers = 3, .queue_level = level::l3}).queues(), 2);
}

TEST(QueueLevel, TasksNearADomainAreDealtOutToItsQueues) {
  auto const m = two_by_two_by_two();
  runtime rt({.machine = &m, .mode = nigh::locality::strict, .queue_level = level::l3});
  std::atomic<int> strays{0};
  std::atomic<int> ran_at[4] = {};
  for (int i = 0; i < 4000; ++i)
    rt.spawn(near(i % 2), [&, i] {
      strays += nigh::this_worker::domain() != i % 2;
      ++ran_at[nigh::this_worker::queue()];
    });
  rt.wait();
  EXPECT_EQ(strays, 0);
  EXPECT_EQ(ran_at[0] + ran_at[1], 2000);
  EXPECT_EQ(ran_at[2] + ran_at[3], 2000);
}

TEST(QueueLevel, TasksAtAQueueCountForItsDomain) {
  auto const m = two_by_two_by_two();
  runtime rt({.machine = &m, .mode = nigh::locality::strict, .queue_level = level::l3});
  for (int i = 0; i < 400; ++i) rt.spawn(near::at_queue(i % 4, 10), [] {});
  rt.wait();
  std::uint64_t local = 0, bytes = 0;
  for (auto const& c : rt.counters()) {
    local += c.local;
    bytes += c.bytes_local;
  }
  EXPECT_EQ(local, 400u);
  EXPECT_EQ(bytes, 4000u);
}

// Strict is about domains: another cache of the same one may help, another domain may not.
TEST(QueueLevel, ABusyCacheIsHelpedWithinItsDomain) {
  auto const m = two_by_two();
  runtime rt({.machine = &m, .mode = nigh::locality::strict, .queue_level = level::l3});
  for (int repetition = 0; repetition < 200; ++repetition) {
    EXPECT_THAT(queues_that_served(rt, 0), ElementsAre(0, 1));
    EXPECT_THAT(queues_that_served(rt, 3), ElementsAre(2, 3));
  }
}

TEST(QueueLevel, OtherDomainsHelpWhenAllOfItsOwnIsBusy) {
  auto const m = two_by_two();
  runtime rt({.machine = &m, .queue_level = level::l3});
  std::atomic<int> begun{0};
  std::atomic<bool> go{false};
  for (int q = 0; q < 2; ++q)
    rt.spawn(near::at_queue(q), [&] {
      ++begun;
      while (!go) std::this_thread::yield();
    });
  while (begun < 2) std::this_thread::yield();
  std::atomic<bool> helped{false};
  rt.spawn(near::at_queue(0), [&] { helped = true; });
  while (!helped) std::this_thread::yield();  // for ever, if nobody came
  go = true;
  rt.wait();
}

TEST(QueueLevel, WhatDoesNotExistIsRefused) {
  auto const m = two_by_two();
  runtime rt({.machine = &m, .queue_level = level::l3});
  EXPECT_THROW(rt.spawn(near::at_queue(4), [] {}), std::out_of_range);
  EXPECT_THROW(rt.spawn(near::at_queue(-2), [] {}), std::out_of_range);
  for (auto const l : {level::cpu, level::package, level::host, level::cluster}) try {
      runtime({.machine = &m, .queue_level = l});
      ADD_FAILURE() << to_string(l);
    } catch (std::invalid_argument const& e) {
      EXPECT_NE(std::string(e.what()).find("queue_level"), std::string::npos) << e.what();
    }
}

// An L3 that two domains share (as with sub-NUMA clustering) is two queues.
TEST(QueueLevel, AQueueBelongsToOneDomain) {
  auto const m = synthetic("l3:1 numa:2 core:2 pu:1");
  if (m.cpu_domains() != 2) GTEST_SKIP() << "hwloc puts these domains elsewhere";
  runtime rt({.machine = &m, .queue_level = level::l3});
  EXPECT_EQ(rt.queues(), 2);
  EXPECT_NE(rt.domain_of_queue(0), rt.domain_of_queue(1));
}

}  // namespace
