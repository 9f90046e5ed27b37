// SPDX-License-Identifier: Apache-2.0
#include <nigh/pstl.hpp>
// One program, two back ends: pstl_on_tbb.cpp is compiled for oneTBB.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <execution>
#include <nigh/runtime.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

#include "unit/pstl_on_tbb.hpp"

namespace {

std::vector<int> reversed(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.rbegin(), v.rend(), 0);
  return v;
}

TEST(PstlBesideTbb, EachSourceHasItsBackEnd) {
  EXPECT_NE(std::string(on_tbb::policy_name()), typeid(std::execution::par).name());
  EXPECT_TRUE(on_tbb::runs_in_an_arena());
}

TEST(PstlBesideTbb, BothAtOnce) {
  std::thread other([] {
    for (int round = 0; round < 20; ++round) {
      auto v = reversed(20000);
      EXPECT_EQ(on_tbb::sum(v), 20000L * 19999 / 2);
      on_tbb::sort(v);
      EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
    }
  });
  for (int round = 0; round < 20; ++round) {
    auto v = reversed(20000);
    std::sort(std::execution::par, v.begin(), v.end());
    EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
  }
  other.join();
}

// An algorithm of one inside one of the other.
TEST(PstlBesideTbb, Nested) {
  std::vector<std::vector<int>> rows(20, reversed(2000));
  std::for_each(std::execution::par, rows.begin(), rows.end(), on_tbb::sort);
  for (auto const& row : rows) EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
}

}  // namespace
