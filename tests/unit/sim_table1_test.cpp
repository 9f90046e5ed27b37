// SPDX-License-Identifier: Apache-2.0
// Tasks and locality queues on the modelled Opteron: the published table, and what must miss it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "machines.hpp"
#include "sim/jacobi/loop_sweep.hpp"
#include "sim/jacobi/table1.hpp"

namespace nigh::sim {
namespace {

template <class Change>
double rms_error(Change change) {
  auto const machine = tests::machine("opteron-4x2");
  double squares = 0;
  for (Table1Cell cell : table1) {
    change(cell.what);
    double const error = jacobi_mlups(machine, cell.what, 1) / cell.published - 1;
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(table1.size()));
}

TEST(Table1, EachCellIsWithinFivePercent) {
  auto const machine = tests::machine("opteron-4x2");
  for (Table1Cell const& cell : table1)
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      EXPECT_NEAR(jacobi_mlups(machine, cell.what, seed) / cell.published, 1, 0.05)
          << cell.published;
  EXPECT_LE(rms_error([](Jacobi2009Tasks&) {}), 0.02);
}

// A model that gets everything right whatever the programs do would tell nothing.
TEST(Table1, OtherSchedulersAndBindingsMiss) {
  EXPECT_GE(rms_error([](Jacobi2009Tasks& what) { what.oldest_first = true; }), 0.08);
  EXPECT_GE(rms_error([](Jacobi2009Tasks& what) { what.scatter = true; }), 0.08);
}

TEST(Table1, IsTheSameForTheSameSeed) {
  auto const machine = tests::machine("opteron-4x2");
  auto const what = table1[5].what;
  EXPECT_EQ(jacobi_mlups(machine, what, 1), jacobi_mlups(machine, what, 1));
  EXPECT_NE(jacobi_mlups(machine, what, 1), jacobi_mlups(machine, what, 2));
}

// Figs. 1 and 2, where the text says what they are as high as.
class JacobiLoops : public ::testing::Test {
 protected:
  static double median(Machine const& machine, JacobiLoop const& what) {
    std::vector<double> mlups;
    for (std::uint64_t seed = 1; seed <= 5; ++seed)
      mlups.push_back(jacobi_loop_mlups(machine, what, seed));
    std::nth_element(mlups.begin(), mlups.begin() + 2, mlups.end());
    return mlups[2];
  }
  double own(schedule_kind schedule, int sockets) const {
    return median(opteron_, {schedule, LoopPages::own, sockets});
  }
  static constexpr auto fixed = schedule_kind::static_blocks, dynamic = schedule_kind::dynamic;
  Machine const opteron_ = tests::machine("opteron-4x2");
  Machine const uniform_ = tests::machine("dunnington-4x6");
};

TEST_F(JacobiLoops, AreAsFastAsThePapers) {
  EXPECT_NEAR(median(opteron_, {fixed, LoopPages::first_domain, 4}) / 149.8, 1, 0.10);
  EXPECT_NEAR(own(dynamic, 4) / 412.7, 1, 0.07);
  EXPECT_NEAR(own(dynamic, 2) / 247.9, 1, 0.10);
  double queues = 0;
  for (Table1Cell const& cell : table1)
    if (cell.what.queues) queues = std::max(queues, jacobi_mlups(opteron_, cell.what, 1));
  EXPECT_GE(own(fixed, 4), queues);
  EXPECT_LE(own(fixed, 4), 1.1 * queues);
}

// All parallelism is lost when all pages are in one domain, and none when there is only one.
TEST_F(JacobiLoops, ScaleAsThePapers) {
  EXPECT_GE(own(fixed, 4), 3.5 * own(fixed, 1));
  EXPECT_LE(own(dynamic, 4), 3 * own(dynamic, 1));
  for (int n = 2; n <= 4; ++n)
    EXPECT_LE(median(opteron_, {fixed, LoopPages::first_domain, n}), own(fixed, 1));
  for (int n = 1; n <= 4; ++n) {
    double const s = median(uniform_, {fixed, LoopPages::own, n});
    EXPECT_NEAR(median(uniform_, {dynamic, LoopPages::own, n}) / s, 1, 0.03);
    EXPECT_GT(s, 0.75 * n * median(uniform_, {fixed, LoopPages::own, 1}));
  }
}

// On a machine whose remote memory costs nothing, dynamic loops lose nothing.
TEST_F(JacobiLoops, LoseByDistanceOnly) {
  auto near = opteron_;
  near.per_hop.value = 0;
  near.link_gb_per_s.value = 100;
  near.crowding.value = 0;
  EXPECT_GT(median(near, {dynamic, LoopPages::own, 2}), 1.15 * own(dynamic, 2));
}

}  // namespace
}  // namespace nigh::sim
