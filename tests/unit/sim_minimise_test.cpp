// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "machines.hpp"
#include "sim/jacobi/fit.hpp"
#include "sim/minimise.hpp"

namespace nigh::sim {
namespace {

TEST(Minimise, FindsTheBottomOfABananaShapedValley) {
  auto const rosenbrock = [](std::vector<double> const& x) {
    return std::pow(1 - x[0], 2) + 100 * std::pow(x[1] - x[0] * x[0], 2);
  };
  auto const least = minimise(rosenbrock, {-1.2, 1}, {0.5, 0.5}, 400);
  EXPECT_NEAR(least.at[0], 1, 1e-4);
  EXPECT_NEAR(least.at[1], 1, 1e-4);
  EXPECT_LT(least.value, 1e-8);
}

TEST(Minimise, AsksAboutAsOftenAsItMay) {
  int asked = 0;
  auto const least = minimise(
      [&](std::vector<double> const& x) {
        ++asked;
        return std::abs(x[0] - 3) + std::abs(x[1] + 2) + std::abs(x[2]);
      },
      {0, 0, 1}, {1, 1, 1}, 100);
  EXPECT_LE(asked, 104);
  EXPECT_LT(least.value, 0.3);
}

// From a start that knows no cell, a dozen questions already come near the table.
TEST(Table1Fit, BendsTheMachineToTheTable) {
  auto const machine = tests::machine("opteron-4x2");
  auto const fit = fit_table1(machine, 7, 1, 9);
  EXPECT_LT(fit.rms, 0.2);
  EXPECT_LT(std::abs(fit.error()), 0.25);
  EXPECT_NE(fit.machine.per_hop.value, machine.per_hop.value);
  EXPECT_EQ(fit.machine.link_gb_per_s.value, machine.link_gb_per_s.value);
}

}  // namespace
}  // namespace nigh::sim
