// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two things every scenario is asked: does it hold as written, and does it fail without a
// letter's orderings?

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "explorer.hpp"

namespace nigh::model {

using Scenario = std::function<void(OneRun&)>;

inline void expect_holds(Scenario const& scenario, Bounds bounds = {}) {
  auto const out = explore(bounds, scenario);
  EXPECT_EQ(out.failure, "") << "after " << out.runs << " schedules";
  EXPECT_TRUE(out.complete) << out.runs << " schedules were not all";
  std::printf("           %ld schedules\n", out.runs);
}

inline void expect_needed(char const* letter, Order weaken_to, Scenario const& scenario,
                          Bounds bounds = {}) {
  bounds.weaken = letter;
  bounds.weaken_to = weaken_to;
  auto const out = explore(bounds, scenario);
  EXPECT_NE(out.failure, "") << "nothing breaks without (" << letter << ") in " << out.runs
                             << " schedules";
  std::printf("           without (%s): %s, after %ld schedules\n", letter, out.failure.c_str(),
              out.runs);
}

}  // namespace nigh::model
