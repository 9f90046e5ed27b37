// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "openmp/study.hpp"

namespace nigh::openmp {
namespace {

TEST(DurationBins, HoldWhatTheyStandFor) {
  std::uint64_t before = 0;
  for (std::size_t bin = 0; bin < duration_bins; ++bin) {
    auto const ns = duration_of(bin);
    EXPECT_EQ(bin_of(ns), bin);
    EXPECT_TRUE(bin == 0 || ns > before) << bin;
    before = ns;
  }
}

TEST(DurationBins, AreWithinTwoPercent) {
  for (std::uint64_t ns = 1; ns < std::uint64_t{1} << longest_bits; ns += 1 + ns / 7) {
    auto const told = static_cast<double>(duration_of(bin_of(ns)));
    EXPECT_NEAR(told, static_cast<double>(ns), 0.02 * static_cast<double>(ns)) << ns;
  }
}

TEST(DurationBins, TellQuantiles) {
  std::array<std::uint32_t, duration_bins> counts{};
  EXPECT_EQ(quantile_of(counts, 0, 500), 0U);
  counts[bin_of(10)] = 1;
  EXPECT_EQ(quantile_of(counts, 1, 100), 10U);
  EXPECT_EQ(quantile_of(counts, 1, 900), 10U);
  counts[bin_of(20)] = 8;
  counts[bin_of(50)] = 1;
  EXPECT_EQ(quantile_of(counts, 10, 100), 10U);
  EXPECT_EQ(quantile_of(counts, 10, 500), 20U);
  EXPECT_EQ(quantile_of(counts, 10, 900), 20U);
  EXPECT_EQ(quantile_of(counts, 10, 1000), 50U);
}

}  // namespace
}  // namespace nigh::openmp
