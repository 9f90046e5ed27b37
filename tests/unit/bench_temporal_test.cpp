// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/temporal/study.hpp"

namespace bench {
namespace {

struct Sample {
  double rate, copy, before, after;  // the last two: the cpus' distance
};

TemporalCell cell_of(std::vector<Sample> const& samples) {
  TemporalCell cell;
  for (Sample const& s : samples) {
    cell.rates.push_back(s.rate);
    cell.copy_rates.push_back(s.copy);
    cell.cpus.push_back({s.before, s.after});
  }
  return cell;
}

TEST(ByDistance, HoldsSamplesToCopiesWithTheCpusAsFarApart) {
  TemporalStudy study;
  study.cells = {
      cell_of({{3, 50, 49, 55}, {4, 82, 330, 340}}),
      cell_of({{90, 48, 98, 50}, {92, 46, 60, 345}, {88, 78, 340, 325}, {80, 81, 325, 52}})};
  ByDistance const by(study);
  ASSERT_TRUE(by.both());
  EXPECT_EQ(by.round_trips(), (std::vector<double>{49, 330, 98, 60, 340, 325}));
  EXPECT_EQ(by.copies(ByDistance::near), (std::vector<double>{50, 48, 46}));
  EXPECT_EQ(by.copies(ByDistance::far), (std::vector<double>{82, 78, 81}));
  EXPECT_EQ(by.rates(study.cells[1], ByDistance::near), std::vector<double>{90})
      << "the host moved them in two";
  EXPECT_EQ(by.rates(study.cells[1], ByDistance::far), std::vector<double>{88});
  EXPECT_EQ(by.of_limit(study.cells[1], ByDistance::near), 90.0 / 48);
  EXPECT_EQ(by.of_limit(study.cells[1], ByDistance::far), 88.0 / 81);
  EXPECT_EQ(by.describe_cpus(),
            "cpus: a cache line goes from the first to the second and back in 212 ns (49 to 340)\n"
            "      up to 98 ns at 3 of 6 copies: limit 48 MLUP/s (46 to 50)\n"
            "      above 98 ns at 3 of 6 copies: limit 81 MLUP/s (78 to 82)\n");
  EXPECT_EQ(by.describe_limit(study.cells[1]),
            "the same by where the cpus were: 1.88 (1 of 4 samples) up to 98 ns, 1.09 (1 of 4 "
            "samples) above\n");
}

TEST(ByDistance, SaysNothingOfADistanceThatNoSampleHas) {
  TemporalStudy study;
  study.cells = {cell_of({{3, 50, 50, 52}, {4, 82, 330, 50}})};
  EXPECT_EQ(ByDistance(study).of_limit(study.cells[0], ByDistance::far), std::nullopt);
  EXPECT_EQ(
      ByDistance(study).describe_limit(study.cells[0]),
      "the same by where the cpus were: 0.06 (1 of 2 samples) up to 100 ns, no sample above\n");
}

TEST(ByDistance, CpusThatStayHaveOneLine) {
  TemporalStudy study;
  study.cells = {cell_of({{3, 50, 250, 252}, {4, 51, 297, 225}})};
  ByDistance const by(study);
  EXPECT_FALSE(by.both());
  EXPECT_EQ(
      by.describe_cpus(),
      "cpus: a cache line goes from the first to the second and back in 274 ns (250 to 297)\n");
  EXPECT_EQ(by.describe_limit(study.cells[0]), "");
}

TEST(ByDistance, OneCpuHasNone) {
  TemporalStudy study;
  study.cells = {TemporalCell{}};
  study.cells[0].rates = {3};
  study.cells[0].copy_rates = {50};
  ByDistance const by(study);
  EXPECT_TRUE(by.round_trips().empty());
  EXPECT_EQ(by.describe_cpus(), "");
}

}  // namespace
}  // namespace bench
