// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whom does a worker rob, in which order? One worker becomes a thief while every other one sits in
// a task of its own, asleep, with exactly one task to be stolen. Nothing else runs, so what is
// stolen tells in which order victims were asked.

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <nigh/runtime.hpp>
#include <nigh/task_scope.hpp>
#include <vector>

namespace nigh_test {

struct Theft {
  int victim = -1;
  nigh::level level = nigh::level::host;  // that thief and victim share
  double distance = 0;
};

struct Spree {
  std::vector<Theft> thefts;       // in their order
  nigh::worker_counters of_thief;  // of the runtime that it was
  int by_others = 0;               // tasks that somebody else than the thief stole
};

// `options` are for a runtime of one worker for each cpu of the machine.
inline Spree steal_one_from_each(nigh::runtime_options options, int thief) {
  options.mode = nigh::locality::strict;
  nigh::runtime rt(options);
  nigh::topology const& machine = rt.machine();
  std::vector<int> cpu_of;
  for (auto const& c : rt.counters()) cpu_of.push_back(c.cpu);

  Spree spree;
  spree.thefts.resize(cpu_of.size() - 1);
  std::atomic<std::size_t> stolen{0};
  std::latch all_there(rt.workers()), offered(rt.workers() - 1), done(rt.workers() - 1);

  auto const be_robbed = [&](int me) {
    nigh::task_scope scope;
    scope.spawn([&, me] {
      auto const by = nigh::this_worker::index();
      if (by != thief) {
        ++spree.by_others;
      } else {
        auto const here = cpu_of[static_cast<std::size_t>(thief)];
        auto const there = cpu_of[static_cast<std::size_t>(me)];
        spree.thefts[stolen++] = {me, machine.common_level(here, there),
                                  machine.cpu_distance(here, there)};
      }
      done.count_down();
    });
    offered.count_down();
    done.wait();
  };
  // Each waits for all to have one, so that every worker gets one.
  for (int cpu : cpu_of)
    rt.spawn(nigh::near(machine.domain_of_cpu(cpu)), [&] {
      all_there.arrive_and_wait();
      int const me = nigh::this_worker::index();
      me == thief ? offered.wait() : be_robbed(me);
    });
  rt.wait();
  spree.of_thief = rt.counters()[static_cast<std::size_t>(thief)];
  return spree;
}

// The thefts go from near to far, and the thief's counters say the same.
inline void expect_near_first(Spree const& spree) {
  EXPECT_EQ(spree.by_others, 0);
  std::vector<std::uint64_t> at(spree.of_thief.steals_at.size());
  for (std::size_t i = 0; i < spree.thefts.size(); ++i) {
    auto const& now = spree.thefts[i];
    ++at[static_cast<std::size_t>(now.level)];
    if (i == 0) continue;
    auto const& before = spree.thefts[i - 1];
    EXPECT_TRUE(before.level < now.level ||
                (before.level == now.level && before.distance <= now.distance))
        << "worker " << before.victim << " was robbed before worker " << now.victim;
  }
  EXPECT_EQ(spree.of_thief.steals, spree.thefts.size());
  EXPECT_EQ(spree.of_thief.stolen, spree.thefts.size());
  EXPECT_EQ(spree.of_thief.steals_at, at);
}

}  // namespace nigh_test
