// SPDX-License-Identifier: Apache-2.0
// The variables that `nigh run` sets where a cgroup's quota has time for fewer threads than there
// are cpus.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

#include "cli/run/pool_variables.hpp"
#include "environment.hpp"

namespace nigh::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

Plan kept(QuotaHere const& here, Inherited const& inherited = empty_environment, Plan plan = {}) {
  keep_pools_within(here, inherited, plan);
  return plan;
}

TEST(PoolVariables, NothingIsSetWithoutAQuotaThatBinds) {
  EXPECT_EQ(kept({{}, 8}), Plan{});
  EXPECT_EQ(kept({8, 8}), Plan{});
  EXPECT_EQ(kept({7.5, 8}), Plan{});
  EXPECT_EQ(kept({0.5, 1}), Plan{});
}

TEST(PoolVariables, EachPoolGetsTheThreadsThatThereIsTimeFor) {
  auto const plan = kept({2.5, 8});
  EXPECT_EQ(plan.variables.size(), pool_variables().size());
  EXPECT_THAT(plan.variables,
              IsSupersetOf({"OMP_NUM_THREADS=3", "OPENBLAS_NUM_THREADS=3", "MKL_NUM_THREADS=3",
                            "BLIS_NUM_THREADS=3", "NUMEXPR_NUM_THREADS=3", "RAYON_NUM_THREADS=3",
                            "NUMBA_NUM_THREADS=3"}));
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_THAT(plan.notes[0], HasSubstr("2.5 cpus' worth of time has time for 3 threads"));
  EXPECT_THAT(plan.notes[0], HasSubstr("on each of 8 cpus"));
}

TEST(PoolVariables, OneThreadAtLeast) {
  EXPECT_THAT(kept({0.1, 8}).variables, Contains("OMP_NUM_THREADS=1"));
  EXPECT_THAT(kept({1, 2}).variables, Contains("OMP_NUM_THREADS=1"));
}

TEST(PoolVariables, RanksShareTheQuota) {
  EXPECT_THAT(kept({4, 8, 2}).variables, Contains("OMP_NUM_THREADS=2"));
  EXPECT_THAT(kept({4, 8, 6}).variables, Contains("OMP_NUM_THREADS=1"));
  EXPECT_THAT(kept({4, 8, 2}).notes[0], HasSubstr("shared by 2 ranks"));
}

TEST(PoolVariables, TheUsersWordStays) {
  auto const plan = kept({2, 8}, environment({{"RAYON_NUM_THREADS", "5"}, {"GOMAXPROCS", "1"}}));
  EXPECT_THAT(plan.variables, Contains("OMP_NUM_THREADS=2"));
  EXPECT_THAT(plan.variables, Not(Contains(StartsWith("RAYON_"))));
  EXPECT_THAT(plan.variables, Not(Contains(StartsWith("GOMAXPROCS"))));
  EXPECT_THAT(plan.notes, Contains(StartsWith("RAYON_NUM_THREADS=5 stays as it was set")));
  EXPECT_THAT(plan.notes, Not(Contains(StartsWith("GOMAXPROCS"))));
}

// OpenBLAS and others take OMP_NUM_THREADS where their own variable is not set.
TEST(PoolVariables, TheUsersWordOnOpenMPIsHeardByTheOthers) {
  auto const plan = kept({2, 8}, environment({{"OMP_NUM_THREADS", "6,4"}}));
  EXPECT_THAT(plan.variables, Not(Contains(StartsWith("OMP_"))));
  EXPECT_THAT(plan.variables, Not(Contains(StartsWith("OPENBLAS_"))));
  EXPECT_THAT(plan.variables, Contains("RAYON_NUM_THREADS=2"));
  EXPECT_THAT(plan.notes, Contains(StartsWith("OMP_NUM_THREADS=6,4 stays as it was set, but")));
}

TEST(PoolVariables, ThreadsThatWereAskedForStay) {
  Plan asked;
  asked.variables = {"OMP_NUM_THREADS=4"};
  auto const plan = kept({1, 8}, environment({{"OMP_NUM_THREADS", "1"}}), asked);
  EXPECT_THAT(plan.variables, Contains("OMP_NUM_THREADS=4"));
  EXPECT_THAT(plan.variables, Not(Contains("OMP_NUM_THREADS=1")));
  EXPECT_THAT(plan.notes, Contains(StartsWith("OMP_NUM_THREADS=4 stays as asked for")));
}

TEST(PoolVariables, OddValuesStayToo) {
  for (char const* odd : {"", "many", ",", "-3", "99999999999999"}) {
    auto const plan = kept({2, 8}, environment({{"OMP_NUM_THREADS", odd}}));
    EXPECT_THAT(plan.variables, Not(Contains(StartsWith("OMP_")))) << odd;
    EXPECT_EQ(plan.notes.size(), 1u) << odd;
  }
}

}  // namespace
}  // namespace nigh::cli
