// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every problem by every variant, spread and number of threads at work; those of one problem in
// turn. A variant that chooses for itself has its trials before the samples.

#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/results.hpp"
#include "bench/spread/setting.hpp"

namespace bench {

// The checked options of `nigh bench spread`.

struct SpreadOptions {
  explicit SpreadOptions(nigh::topology m) : machine(std::move(m)) {}

  nigh::topology machine;
  std::vector<jacobi2d::VariantInfo const*> variants;
  std::vector<int> spreads, actives;  // ascending
  std::vector<jacobi2d::RowSchedule> rows;
  int threads = 1, repetitions = 5;
  jacobi2d::Kernel const* kernel = nullptr;

  // Block size by spread: problems of about the same number of points.
  std::vector<jacobi2d::Problem> grid;
  // Blocks around the caches' sizes, worked on several times a visit.
  std::vector<jacobi2d::Problem> cache;
  std::size_t l2_bytes = 0, l3_bytes = 0;  // 0: not known
  int l3_sharers = 1;                      // of these threads, on one L3
  int l2_caches = 1;                       // that these threads have

  bool programs = false;  // the others' task loops too
  bool quick = false;

  std::vector<std::string> left_out;
};

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

// The project's other programs with task loops: each by every spread, and by what its loops choose.

struct ProgramCell {
  int spread = 0, active = 0;   // 0: its loops choose
  std::vector<double> seconds;  // one for each repetition
  bool verified = true;
  // Of one that chooses: runs until no loop tried anything any more, and the most trials of a loop.
  bool holds = true;
  int runs_to_hold = 0, trials = 0;

  bool chooses() const noexcept { return spread == 0; }
};

struct ProgramGroup {
  std::string name, size;
  std::vector<ProgramCell> cells;  // spread 1 on all threads first, what chooses last
};

struct ProgramStudy {
  std::vector<ProgramGroup> groups;
};

ProgramStudy study_programs(SpreadOptions const& options);
std::string describe(ProgramStudy const& study, SpreadOptions const& options);
std::vector<Result> results(ProgramStudy const& study, SpreadOptions const& options);

}  // namespace bench
