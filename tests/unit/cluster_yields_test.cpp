// SPDX-License-Identifier: Apache-2.0
// This program takes the part of Open MPI: it has the function by which MPI's yields are switched.
#include <gtest/gtest.h>

#include <utility>

#include "cluster/mpi/yields.hpp"

namespace {

bool yields = false;

}  // namespace

extern "C" [[gnu::visibility("default")]] bool opal_progress_set_yield_when_idle(bool on);
extern "C" bool opal_progress_set_yield_when_idle(bool on) { return std::exchange(yields, on); }

namespace {

using nigh::cluster::mpi::NoYields;

TEST(NoYields, SwitchesThemOffForAWhile) {
  yields = true;
  {
    NoYields const off;
    EXPECT_FALSE(yields);
    NoYields const nested;
    EXPECT_FALSE(yields);
  }
  EXPECT_TRUE(yields);
}

TEST(NoYields, LeavesThemOffWhereTheyWere) {
  yields = false;
  {
    NoYields const off;
  }
  EXPECT_FALSE(yields);
}

}  // namespace
