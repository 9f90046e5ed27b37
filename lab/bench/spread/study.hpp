// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every problem by every variant, spread and number of threads at work; those of one problem in
// turn. A variant that chooses for itself has its trials before the samples.

#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/spread/options.hpp"

namespace bench {

struct SpreadCell {
  jacobi2d::VariantInfo const* variant = nullptr;
  int spread = 0, active = 0;  // 0: the variant does not ask
  jacobi2d::RowSchedule rows;

  std::vector<double> seconds;  // one for each repetition
  bool verified = true;
  std::string absent;  // why there are no samples

  // Of one that chooses for itself.
  jacobi2d::Chosen chosen;
  int iterations_to_hold = 0;

  bool chooses() const noexcept { return variant->chooses; }
  bool is_fixed_spread() const { return variant->by_active && !seconds.empty(); }
  std::string name() const;  // "nigh/spread 2", "openmp-gcc/rows,16"
};

struct SpreadGroup {
  bool of_grid = true;
  jacobi2d::Problem problem;
  std::vector<SpreadCell> cells;

  double rate(SpreadCell const& cell) const;  // MLUP/s, median
  // The nigh/spread with the shortest median; spread 1 on all threads; nigh/auto. Null: there is
  // none.
  SpreadCell const* best_fixed() const;
  SpreadCell const* spread_1(int threads) const;
  SpreadCell const* automatic() const;
};

// How much longer than the other one: median over repetitions.
double time_over(SpreadCell const& cell, SpreadCell const& other);

struct SpreadStudy {
  std::vector<SpreadGroup> groups;
};

SpreadStudy study(SpreadOptions const& options);
std::string describe(SpreadStudy const& study, SpreadOptions const& options);
std::vector<Result> results(SpreadStudy const& study, SpreadOptions const& options);

}  // namespace bench
