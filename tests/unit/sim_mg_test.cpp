// SPDX-License-Identifier: Apache-2.0
// The multigrid's loops, where its planes lie, and which of them caches hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "machines.hpp"
#include "sim/mg/multigrid.hpp"
#include "sim/mg/planes.hpp"

namespace nigh::sim {
namespace {

using mg::Array, mg::Loop, mg::Operator, mg::PlaneUse;
using ::testing::Each;
using ::testing::ElementsAre;

TEST(MgCycle, EachLoopWritesEachInteriorPlaneOnce) {
  std::vector<PlaneUse> uses;
  for (Loop const& loop : mg::start(5)) {
    std::map<std::pair<int, int>, int> written;  // [level, plane]
    for (int step = 0; step < mg::steps(loop); ++step) {
      mg::plane_uses(loop, step, uses);
      for (auto const& use : uses) {
        ASSERT_GE(use.plane, 0);
        ASSERT_LE(use.plane, mg::side(use.level) + 1);
        if (use.writes) ++written[{use.level, use.plane}];
      }
    }
    int const level = loop.what == Operator::restriction ? loop.level - 1 : loop.level;
    for (int plane = 1; plane <= mg::side(level); ++plane)
      EXPECT_EQ((written[{level, plane}]), 1) << level << ' ' << plane;
  }
}

TEST(MgCycle, GoesDownAndUpAgain) {
  auto const loops = mg::iteration(3);
  std::vector<std::pair<Operator, int>> order;
  for (auto const& l : loops) order.emplace_back(l.what, l.level);
  using enum Operator;
  using ::testing::Pair;
  EXPECT_THAT(order, ElementsAre(Pair(restriction, 3), Pair(restriction, 2), Pair(zero, 1),
                                 Pair(smoother, 1), Pair(zero, 2), Pair(prolongation, 2),
                                 Pair(residual, 2), Pair(smoother, 2), Pair(prolongation, 3),
                                 Pair(residual, 3), Pair(smoother, 3), Pair(residual, 3)));
  EXPECT_FALSE(loops[6].is_finest) << "below the finest, r is changed in place";
  EXPECT_TRUE(loops[9].is_finest);
}

class MgPlanes : public ::testing::Test {
 protected:
  mg::Planes planes(std::vector<int> turns) const {
    return {machine_, map_, {0, 1, 12}, 9, std::move(turns)};
  }
  std::vector<Traffic> moved(mg::Planes& p, PlaneUse const& use, int cpu) const {
    std::vector<Traffic> traffic{{0, 0, 0}, {1, 0, 0}};
    p.move(use, cpu, traffic);
    return traffic;
  }
  Machine const machine_ = tests::machine("skylake-2x12");
  policy::CoreMap const map_ = machine_.core_map();
  double const gb_ = mg::Planes::bytes(9) * 1e-9;
};

TEST_F(MgPlanes, StayWhereTheyWereFirstTouched) {
  auto p = planes({});
  EXPECT_FALSE(p.is_touched(Array::v, 9, 5));
  p.touch(Array::v, 9, 5, 1);
  p.touch(Array::v, 9, 5, 0);
  auto const t = moved(p, {Array::v, 9, 5, true, false}, 0);
  EXPECT_EQ(t[0].in_gb, 0);
  EXPECT_DOUBLE_EQ(t[1].in_gb, gb_);
  EXPECT_EQ(t[1].out_gb, 0);
  EXPECT_THAT(p.shares(), ElementsAre(0, 1));
}

TEST_F(MgPlanes, InterleavedOnesComeFromAllDomains) {
  auto p = planes({0, 1});
  p.touch(Array::u, 9, 5, 1);
  auto const t = moved(p, {Array::u, 9, 5, true, true}, 0);
  EXPECT_DOUBLE_EQ(t[0].in_gb, gb_ / 2);
  EXPECT_DOUBLE_EQ(t[1].out_gb, gb_ / 2);
  EXPECT_THAT(p.shares(), ElementsAre(0.5, 0.5));
}

TEST_F(MgPlanes, AreFoundInTheCacheOfThoseWhoHaveJustHadThem) {
  auto p = planes({});
  p.touch(Array::u, 9, 5, 0);
  PlaneUse const read{Array::u, 9, 5, true, false};
  EXPECT_GT(moved(p, read, 0)[0].in_gb, 0);
  EXPECT_EQ(moved(p, read, 1)[0].in_gb, 0) << "cpus 0 and 1 share an L3 cache";
  EXPECT_GT(moved(p, read, 12)[0].in_gb, 0) << "cpu 12 is on the other socket";
  // An L3 and two of its cores' L2: a little less than 22 MB.
  p.gone_through(0, 21e6);
  EXPECT_EQ(moved(p, read, 0)[0].in_gb, 0);
  p.gone_through(0, 45e6);
  EXPECT_GT(moved(p, read, 0)[0].in_gb, 0) << "forgotten";
}

TEST_F(MgPlanes, AreTakenFromOtherCachesByWriting) {
  auto p = planes({});
  p.touch(Array::u, 9, 5, 0);
  moved(p, {Array::u, 9, 5, true, false}, 12);
  auto const t = moved(p, {Array::u, 9, 5, true, true}, 0);
  EXPECT_GT(t[0].out_gb, 0);
  EXPECT_GT(moved(p, {Array::u, 9, 5, true, false}, 12)[0].in_gb, 0);
}

TEST(Multigrid, OnOneThreadMovesWhatItsOperatorsDo) {
  auto const machine = tests::machine("skylake-2x12");
  MgCase what;
  what.finest = 6;
  what.caches = false;
  auto const outcome = run_mg(machine, what, 1);
  // Bytes a point without any cache: restriction (12 + 2), prolongation (16 + 2), twice
  // residual (24 + 8 + 16), smoother (24 + 16); and about a seventh more below.
  double const points = 64.0 * 64 * 64;
  EXPECT_NEAR(outcome.gb * 1e9 / points, 168 * 8 / 7.0, 0.15 * 168);
  EXPECT_EQ(outcome.missed, 1);
  EXPECT_THAT(outcome.load, ElementsAre(1, 0));
}

TEST(Multigrid, IsTheSameForTheSameSeed) {
  auto const machine = tests::machine("skylake-2x12");
  for (auto const framework : {Framework::openmp, Framework::cilk, Framework::fastflow}) {
    MgCase what;
    what.framework = framework;
    what.dynamic = true;
    what.threads = 16;
    what.finest = 5;
    auto const once = run_mg(machine, what, 1);
    EXPECT_EQ(once.iteration_s, run_mg(machine, what, 1).iteration_s);
    EXPECT_NE(once.iteration_s, run_mg(machine, what, 2).iteration_s);
    EXPECT_EQ(once.load, run_mg(machine, what, 1).load);
  }
}

TEST(Multigrid, RunsOnAnyMachine) {
  for (auto const& name : machine_names(NIGH_MACHINES)) {
    auto const machine = tests::machine(name.c_str());
    MgCase what;
    what.dynamic = true;
    what.pages = MgPages::everywhere;
    what.order = cpu_order::scatter;
    what.finest = 4;
    what.threads = std::min(40, static_cast<int>(machine.shape.cpus().size()));
    auto const outcome = run_mg(machine, what, 1);
    double const part = 1 / static_cast<double>(machine.shape.domains().size());
    EXPECT_THAT(outcome.load, Each(::testing::DoubleNear(part, 1e-9))) << name;
  }
}

}  // namespace
}  // namespace nigh::sim
