// SPDX-License-Identifier: Apache-2.0
// Programs that share a modelled host: what a thread's place costs, and who ends when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "machines.hpp"
#include "sim/hosts/leases.hpp"
#include "sim/hosts/memory_system.hpp"
#include "sim/hosts/programs.hpp"
#include "sim/hosts/shared_host.hpp"
#include "sim/hosts/throughput.hpp"

namespace nigh::sim {
namespace {

class Hosts : public ::testing::Test {
 protected:
  Machine const machine_ = tests::machine("sun-x4600");
  policy::CoreMap const map_ = machine_.core_map();
};

TEST_F(Hosts, AThreadIsAsFastAsItsMemoryIsNear) {
  FluidNetwork network;
  MemorySystem memory(machine_, map_, network);
  MemoryNeed const need{0.5, 0, false};
  auto const rate = [&](int cpu, int home) {
    auto const flow = memory.start(0, 1, {cpu, home, -1}, need);
    double const r = network.rate(0, flow);
    network.stop(0, flow);
    return r;
  };
  EXPECT_DOUBLE_EQ(rate(0, 0), 1);
  double const per_hop = machine_.per_hop.value;
  EXPECT_NEAR(rate(0, 1), 1 / (0.5 + 0.5 * (1 + per_hop)), 1e-12);
  EXPECT_NEAR(rate(31, 0), 1 / (0.5 + 0.5 * (1 + 3 * per_hop)), 1e-12);
}

TEST_F(Hosts, AFlowTakesItsComputingAndItsTraffic) {
  FluidNetwork network;
  MemorySystem memory(machine_, map_, network);
  Traffic const traffic[] = {{0, 1, 0.5}, {1, 0, 0.25}};
  auto const flow = memory.start(0, 0, 0.1, traffic);
  double const gb_per_s = machine_.thread_gb_per_s.value;
  EXPECT_NEAR(network.rate(0, flow),
              1 / (0.1 + 1.5 / gb_per_s + 0.25 / gb_per_s * machine_.slowdown(0, 1)), 1e-12);
}

TEST(HostsOnOtherMachines, CoresOfAChipletShareItsWayToMemory) {
  auto const machine = tests::machine("epyc-2x96");
  auto const map = machine.core_map();
  FluidNetwork network;
  MemorySystem memory(machine, map, network);
  Traffic const traffic{0, 1, 0};
  std::vector<FlowId> flows;
  for (int cpu = 0; cpu < 4; ++cpu) flows.push_back(memory.start(0, cpu, 0, {&traffic, 1}));
  EXPECT_NEAR(network.rate(0, flows[0]), machine.l3_gb_per_s.value / 4, 1e-9);
  auto const other = memory.start(0, 8, 0, {&traffic, 1});
  EXPECT_NEAR(network.rate(0, other), machine.thread_gb_per_s.value, 1e-9);
}

TEST(HostsOnOtherMachines, MemoryWithoutCpusIsFarAndNarrow) {
  auto const machine = tests::machine("cxl-2x32");
  auto const map = machine.core_map();
  FluidNetwork network;
  MemorySystem memory(machine, map, network);
  Traffic const traffic{2, 1, 0};
  auto const one = memory.start(0, 0, 0, {&traffic, 1});
  EXPECT_NEAR(network.rate(0, one), machine.thread_gb_per_s.value / machine.slowdown(0, 2), 1e-9);
  EXPECT_LT(network.rate(0, one), machine.thread_gb_per_s.value / machine.slowdown(0, 1));
  for (int cpu = 1; cpu < 32; ++cpu) memory.start(0, cpu, 0, {&traffic, 1});
  EXPECT_NEAR(network.rate(0, one), machine.apart_gb_per_s.value / 32, 1e-9);
}

TEST_F(Hosts, ThreadsShareTheirDomainsMemoryAndTheirCpu) {
  FluidNetwork network;
  MemorySystem memory(machine_, map_, network);
  MemoryNeed const greedy{1, 0, false};
  std::vector<FlowId> flows;
  for (int cpu = 0; cpu < 4; ++cpu) flows.push_back(memory.start(0, 1, {cpu, 0, -1}, greedy));
  double const all = machine_.controller_gb_per_s.value /
                     (1 + machine_.crowding.value * (4 - machine_.uncrowded_flows.value));
  for (auto const f : flows)
    EXPECT_NEAR(network.rate(0, f) * machine_.thread_gb_per_s.value, all / 4, 1e-9);
  auto const a = memory.start(0, 1, {8, 2, -1}, {}), b = memory.start(0, 1, {8, 2, -1}, {});
  EXPECT_DOUBLE_EQ(network.rate(0, a), 0.5);
  EXPECT_DOUBLE_EQ(network.rate(0, b), 0.5);
}

TEST_F(Hosts, RegionsHaveDemandsInOrder) {
  for (ProgramProfile const& program : paper_programs())
    for (RegionProfile const& region : program.regions) {
      auto const times = seconds_by_threads(machine_, map_, region);
      auto const demand = demand_of(times);
      EXPECT_GE(demand.optimal, 1) << region.name;
      EXPECT_LE(demand.optimal, demand.maximum) << region.name;
      EXPECT_LE(demand.maximum, 32) << region.name;
      EXPECT_NEAR(times[0], region.work_s * (1 + region.per_thread), 0.01 * times[0] + 0.01);
    }
  EXPECT_EQ(demand_of({8, 4, 2.7, 2.1, 2.095}), (policy::ThreadDemand{4, 4}));
  EXPECT_EQ(demand_of({1, 1.2, 1.4}), (policy::ThreadDemand{1, 1}));
}

TEST_F(Hosts, SetsTakeEachProgramOnceBeforeOneIsTakenAgain) {
  auto const set = random_programs(2 * static_cast<int>(paper_programs().size()), 4);
  for (std::size_t p = 0; p < paper_programs().size(); ++p)
    EXPECT_EQ(std::count(set.begin(), set.end(), static_cast<int>(p)), 2);
  EXPECT_NE(random_programs(13, 1), random_programs(13, 2));
}

// A team of four in one socket, one program after the other.
class FourInASocket : public TeamSource {
 public:
  explicit FourInASocket(TeamReceiver& programs) : programs_(programs) {}
  int begin_program(int) override { return 0; }
  void end_program(int) override {}
  void enter(int program, int, policy::ThreadDemand, int) override {
    programs_.begin_region(program, {0, 1, 2, 3});
  }
  void leave(int, int, int, Time) override {}
  void happen(Event const&) override {}

 private:
  TeamReceiver& programs_;
};

TEST_F(Hosts, AProgramAloneTakesItsSerialPartsAndItsRegions) {
  ProgramProfile const profile{"p", 0.5, 10, {{"r", 40, 0.1, 0.001, 0, 0, 100}}};
  SharedHost host(machine_, map_, {{&profile, {{4, 4}}}}, 1, DataPlace::first_touch);
  FourInASocket source(host.receiver());
  auto const outcome = host.run(source);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  double const barriers = 100 * 4 * machine_.barrier_ns.value * 1e-9;
  double const expected = 10 * 0.5 + 40 * 0.1 + 40 * 0.9 / 4 + 4 * 40 * 0.001 + barriers;
  EXPECT_NEAR(outcome->seconds, expected, 1e-6);
  EXPECT_DOUBLE_EQ(outcome->mean_team, 4);
  EXPECT_DOUBLE_EQ(outcome->distance_per_link, 1);
  EXPECT_DOUBLE_EQ(outcome->home_hops, 0);
}

class Silent : public FourInASocket {
 public:
  using FourInASocket::FourInASocket;
  void enter(int, int, policy::ThreadDemand, int) override {}
};

TEST_F(Hosts, WhatCannotGoOnEndsWithTheStateOfAll) {
  ProgramProfile const profile{"p", 0.5, 10, {{"r", 40, 0, 0, 0, 0, 10}}};
  SharedHost host(machine_, map_, {{&profile, {{4, 4}}}, {&profile, {{4, 4}}}}, 1,
                  DataPlace::first_touch);
  Silent source(host.receiver());
  auto const outcome = host.run(source);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.message(),
            "nothing can happen any more: p asking in round 0, p queued in round 0");
}

TEST_F(Hosts, TheSameSeedIsTheSameRun) {
  MeasuredPrograms const measured(machine_, map_);
  auto const set = random_programs(3, 3);
  for (std::size_t w = 0; w < way_names.size(); ++w)
    for (DataPlace data : {DataPlace::interleaved, DataPlace::first_touch}) {
      ThroughputCase const what{set, 3, static_cast<Way>(w), 9, data};
      auto const once = run_programs(machine_, map_, measured, what);
      auto const twice = run_programs(machine_, map_, measured, what);
      ASSERT_TRUE(once.ok() && twice.ok()) << way_names[w];
      EXPECT_EQ(once->seconds, twice->seconds) << way_names[w];
      EXPECT_EQ(once->mean_end_s, twice->mean_end_s) << way_names[w];
      EXPECT_EQ(once->distance_per_link, twice->distance_per_link) << way_names[w];
    }
}

TEST_F(Hosts, NobodyIsFasterThanTheMachine) {
  MeasuredPrograms const measured(machine_, map_);
  auto const set = random_programs(6, 5);
  double work = 0;
  for (int p : set) work += paper_programs()[static_cast<std::size_t>(p)].work_s();
  for (std::size_t w = 0; w < way_names.size(); ++w) {
    auto const outcome = run_programs(machine_, map_, measured,
                                      {set, 6, static_cast<Way>(w), 1, DataPlace::interleaved});
    ASSERT_TRUE(outcome.ok());
    EXPECT_GT(outcome->seconds, work / 32) << way_names[w];
    EXPECT_LT(outcome->seconds, work) << way_names[w];
    EXPECT_LE(outcome->mean_end_s, outcome->seconds) << way_names[w];
  }
}

// The paper's order: programs one after the other are slowest, the coordinator is fastest, and its
// policies leave threads closer and closer to each other.
TEST_F(Hosts, BarsAreInThePapersOrder) {
  MeasuredPrograms const measured(machine_, map_);
  SetOptions const options{13,
                           13,
                           3,
                           2010,
                           DataPlace::interleaved,
                           {Way::sequential, Way::fixed, Way::simple, Way::adjusting}};
  auto const cells = study_set(machine_, map_, measured, options);
  ASSERT_TRUE(cells.ok()) << cells.message();
  auto const sum = [&](std::size_t cell, double HostOutcome::* what) {
    double all = 0;
    for (HostOutcome const& o : (*cells)[cell].outcomes) all += o.*what;
    return all;
  };
  EXPECT_LT(sum(1, &HostOutcome::seconds), 0.98 * sum(0, &HostOutcome::seconds));
  EXPECT_LT(sum(2, &HostOutcome::seconds), 0.95 * sum(1, &HostOutcome::seconds));
  EXPECT_LT(sum(3, &HostOutcome::seconds), 1.03 * sum(2, &HostOutcome::seconds));
  EXPECT_LT(sum(3, &HostOutcome::distance_per_link), 0.9 * sum(2, &HostOutcome::distance_per_link));
}

// A region that more threads make slower, alone: what is learnt by trials is nearly as good as what
// is told, and the team that all cpus would be is given up.
TEST_F(Hosts, TrialsFindTheTeamThatIsNotTold) {
  ProgramProfile const profile{"p", 0.001, 8000, {{"r", 800, 0.02, 0.01, 0.2, 0, 8000}}};
  auto const demand = demand_of(seconds_by_threads(machine_, map_, profile.regions[0]));
  ASSERT_LT(demand.maximum, 16);
  auto const outcome = [&](bool tells) {
    SharedHost host(machine_, map_, {{&profile, {demand}}}, 1, DataPlace::interleaved);
    Leases leases(host.simulation(), SharedHost::source_actor, host.receiver(), map_,
                  policy::CoreAllocation::clustered_adjusting,
                  static_cast<Time>(machine_.message_ns.value), 1, tells);
    return host.run(leases).value();
  };
  auto const told = outcome(true), learnt = outcome(false);
  EXPECT_LT(learnt.seconds, 1.15 * told.seconds);
  EXPECT_LT(learnt.mean_team, 20);
}

TEST(HostsOnOtherMachines, RunThere) {
  for (char const* name : {"opteron-4x2", "nehalem-2x4"}) {
    auto const machine = tests::machine(name);
    auto const map = machine.core_map();
    MeasuredPrograms const measured(machine, map);
    auto const set = random_programs(4, 7);
    auto const alone = run_programs(machine, map, measured, {set, 4, Way::sequential, 1});
    auto const shared = run_programs(machine, map, measured, {set, 4, Way::adjusting, 1});
    ASSERT_TRUE(alone.ok() && shared.ok()) << name;
    EXPECT_LT(shared->seconds, 1.5 * alone->seconds) << name;
  }
}

}  // namespace
}  // namespace nigh::sim
