// SPDX-License-Identifier: Apache-2.0
// Tasks and locality queues on the modelled Opteron: the published table, and what must miss it.
#include <gtest/gtest.h>

#include <cmath>

#include "machines.hpp"
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
  EXPECT_LE(rms_error([](JacobiTasks&) {}), 0.02);
}

// A model that gets everything right whatever the programs do would tell nothing.
TEST(Table1, OtherSchedulersAndBindingsMiss) {
  EXPECT_GE(rms_error([](JacobiTasks& what) { what.oldest_first = true; }), 0.08);
  EXPECT_GE(rms_error([](JacobiTasks& what) { what.scatter = true; }), 0.08);
}

TEST(Table1, IsTheSameForTheSameSeed) {
  auto const machine = tests::machine("opteron-4x2");
  auto const what = table1[5].what;
  EXPECT_EQ(jacobi_mlups(machine, what, 1), jacobi_mlups(machine, what, 1));
  EXPECT_NE(jacobi_mlups(machine, what, 1), jacobi_mlups(machine, what, 2));
}

}  // namespace
}  // namespace nigh::sim
