// SPDX-License-Identifier: Apache-2.0
// Time steps in tiles on modelled machines: what must hold whatever the numbers are.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "machines.hpp"
#include "sim/temporal/task_queues.hpp"
#include "sim/temporal/temporal.hpp"
#include "sim/temporal/tile_work.hpp"

namespace nigh::sim {
namespace {

TemporalCase of(TemporalWay way, int side, int width = 0) {
  TemporalCase what;
  what.way = way;
  what.side = side;
  what.width = width;
  what.planes = 960;
  what.steps = 32;
  return what;
}
TemporalOutcome run(char const* machine, TemporalCase const& what) {
  return run_temporal(tests::machine(machine), what, 1);
}

TEST(PlaneCaches, LinesOutliveWhatComesInBehindThem) {
  PlaneCaches caches(2, {100, 0});
  EXPECT_EQ(caches.held(0, 1), 0);
  caches.write(0, 1);
  EXPECT_EQ(caches.held(0, 1), 1);
  caches.bring_in(0, 50);
  EXPECT_NEAR(caches.held(0, 1), std::exp(-0.5), 1e-12);
  caches.write(1, 1);
  EXPECT_EQ(caches.held(0, 1), 0);
  EXPECT_EQ(caches.held(1, 1), 0);  // that cache keeps nothing
}

// Two domains of two L3s of two cores.
TEST(TaskQueues, OwnOnesComeFirstThenTheDomainsThenOthers) {
  auto const machine = topology::from_synthetic("numa:2 l3:2 core:2 pu:1");
  ASSERT_TRUE(machine.ok());
  std::vector<int> const cpus{0, 1, 2, 3, 4, 5, 6, 7};
  policy::WorkerLayout const layout(*machine, cpus, {.queue_level = level::l3});
  TaskQueues queues(layout);
  ASSERT_EQ(queues.queues_of(1), (std::vector<int>{2, 3}));
  queues.put(0, 10);
  queues.put(1, 11);
  queues.put(2, 12);
  queues.put(3, 13);
  EXPECT_EQ(queues.take(4), 12u);
  EXPECT_EQ(queues.take(5), 13u);
  EXPECT_EQ(queues.take(5), 10u);
  EXPECT_EQ(queues.take(2), 11u);
  EXPECT_FALSE(queues.take(7));
  EXPECT_FALSE(queues.take(1));
  EXPECT_EQ(queues.put(2, 14), 7);  // nobody of its own is idle, this one is of its domain
  EXPECT_EQ(queues.put(2, 15), 1);
  EXPECT_FALSE(queues.put(2, 16));
}

TEST(Temporal, SameSeedSameRun) {
  for (auto const way : {TemporalWay::sweeps, TemporalWay::barriers, TemporalWay::queues}) {
    auto const first = run("skylake-4x12", of(way, 200)), again = run("skylake-4x12", of(way, 200));
    EXPECT_EQ(first.mlups, again.mlups);
    EXPECT_EQ(first.bytes_per_update, again.bytes_per_update);
    EXPECT_EQ(first.remote_tiles, again.remote_tiles);
  }
}

TEST(Temporal, NothingPassesWhatTheMachineHas) {
  for (char const* name : {"skylake-4x12", "epyc-2x96"}) {
    auto const machine = tests::machine(name);
    for (auto const way : {TemporalWay::sweeps, TemporalWay::barriers, TemporalWay::queues})
      for (int const side : {96, 600}) {
        auto const o = run_temporal(machine, of(way, side, 16), 1);
        auto const cores = static_cast<double>(machine.shape.cpus().size());
        EXPECT_LE(o.mlups, cores / 0.55e-3 * 1.01);
        EXPECT_LE(o.mlups * o.bytes_per_update, 16 * streaming_limit_mlups(machine) * 1.01);
      }
  }
}

// Of width w: both copies of w + 2 planes are read, of w written, for w * w / 2 updates.
TEST(Temporal, TilesMoveTheirPlanesOnce) {
  for (int const width : {8, 16}) {
    auto const o = run("skylake-4x12", of(TemporalWay::queues, 600, width));
    double const w = width;
    EXPECT_NEAR(o.bytes_per_update, 8 * (4 * w + 4) / (w * w / 2), 1.0);
    EXPECT_EQ(o.width, width);
  }
  EXPECT_NEAR(run("skylake-4x12", of(TemporalWay::sweeps, 600)).bytes_per_update, 24, 1);
}

TEST(Temporal, TilesThatDoNotFitGainNothing) {
  auto const sweeps = run("skylake-4x12", of(TemporalWay::sweeps, 600));
  EXPECT_GE(run("skylake-4x12", of(TemporalWay::queues, 600, 16)).mlups, 3 * sweeps.mlups);
  EXPECT_LE(run("skylake-4x12", of(TemporalWay::queues, 600, 48)).mlups, 1.2 * sweeps.mlups);
  auto without = of(TemporalWay::queues, 600, 16);
  without.has_cache = false;
  EXPECT_LE(run("skylake-4x12", without).mlups, 1.1 * sweeps.mlups);
}

TEST(Temporal, QueuesOfCachesKeepPlanesThatFitThem) {
  auto domain = of(TemporalWay::queues, 96, 4);
  domain.queue_level = level::domain;
  auto const there = run("epyc-2x96", domain);
  auto const near = run("epyc-2x96", of(TemporalWay::queues, 96, 4));
  EXPECT_LE(near.bytes_per_update, there.bytes_per_update / 2);
  EXPECT_GE(near.mlups, 1.5 * there.mlups);
}

// Two cores, where nigh bench temporal's first recording had for width 16: 3616 MLUP/s, to which
// the time of an update is fitted, with barriers 3644; around obstacles 3264 and 2111.
TEST(Temporal, BarriersWaitAsMeasured) {
  auto const here = parse_machine("here.json", R"({"format": 1, "title": "2 cores",
    "topology": {"synthetic": "numa:1 l3:1(size=32MB) l2:2(size=1MB) core:1 pu:1", "source": "here"},
    "memory": {
      "thread_gb_per_s": {"value": 30, "source": "assumed"},
      "per_hop": {"value": 0, "source": "one domain"},
      "controller_gb_per_s": {"value": 46, "source": "a copy with streaming stores"},
      "crowding": {"value": 0, "source": "assumed"},
      "uncrowded_flows": {"value": 0, "source": "with crowding"},
      "read_share": {"value": 0.667, "source": "assumed"}},
    "costs": {
      "message_ns": {"value": 1000, "source": "assumed"},
      "barrier_ns": {"value": 200, "source": "assumed"},
      "slice_ns": {"value": 3e6, "source": "assumed"}}})");
  ASSERT_TRUE(here.ok()) << here.message();
  auto const rate = [&](TemporalWay way, bool obstacles) {
    auto what = of(way, 600, 16);
    what.planes = 600;
    what.steps = 16;
    what.obstacles = obstacles;
    return run_temporal(*here, what, 1).mlups;
  };
  EXPECT_NEAR(rate(TemporalWay::queues, false), 3616, 0.05 * 3616);
  EXPECT_NEAR(rate(TemporalWay::barriers, false), 3644, 0.05 * 3644);
  EXPECT_NEAR(rate(TemporalWay::queues, true), 3264, 0.12 * 3264);
  EXPECT_NEAR(rate(TemporalWay::barriers, true), 2111, 0.12 * 2111);
}

TEST(Temporal, DomainsWithLessToDoHelpOthers) {
  auto what = of(TemporalWay::queues, 200, 8);
  EXPECT_LE(run("skylake-4x12", what).remote_tiles, 0.02);
  what.obstacles = true;
  EXPECT_GE(run("skylake-4x12", what).remote_tiles, 0.05);
}

TEST(Temporal, WidthIsTheProductsChoice) {
  TemporalCase what;
  auto const machine = tests::machine("epyc-2x96");
  EXPECT_EQ(chosen_width(machine, what), 12);
  EXPECT_EQ(run_temporal(machine, of(TemporalWay::barriers, 600), 1).width,
            chosen_width(machine, of(TemporalWay::barriers, 600)));
}

}  // namespace
}  // namespace nigh::sim
