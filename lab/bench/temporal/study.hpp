// SPDX-License-Identifier: Apache-2.0
#pragma once
// All contestants in turn, on an empty grid and on one with obstacles.

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/jacobi3d/problem.hpp"
#include "bench/results.hpp"
#include "jacobi3d/variant.hpp"

namespace bench {

// The checked options of `nigh bench temporal`.

struct TemporalOptions {  // checked
  std::unique_ptr<JacobiOptions> solver;
  int steps = 0;
  std::vector<int> widths;  // of tiles
  bool search = false;      // of these: nothing but nigh's tiles, and sweeps to hold them to
  int rows = 0;             // a step of the wavefront takes; 0: chosen
  std::vector<bool> obstacles;
  std::string variant;  // to run alone; empty: all
  bool report = false;  // of that one: where pages and tiles were
};

// Ways to make many time steps, as variants of the solver.

struct Contestant {
  std::string name;
  int width = 0;  // of its tiles; 0: sweeps, or chosen
  bool tiles = false;
  std::function<std::unique_ptr<jacobi3d::Variant>(jacobi3d::Team const&)> make;  // null: absent
  std::string why_absent;
};

std::vector<Contestant> contestants(TemporalOptions const& options);

// One by its name without a width, for a run alone: nigh/temporal, openmp/temporal and
// openmp/temporal-dynamic. Of options.widths it has the first, nigh without any a width that is
// chosen. UsageError for another name, one that is absent, or no width.
Contestant tiles_alone(TemporalOptions const& options);

// openmp/temporal: the same tiles as nigh's, row by row, `omp for` over those of a row, and a
// barrier (static temporal blocking). Null without OpenMP.
std::unique_ptr<jacobi3d::Variant> make_static_tiles(jacobi3d::Team const& team, int width,
                                                     int rows, bool dynamic);

// Nanoseconds for a cache line to go from the first worker's cpu to the second's and back.
struct CpuDistance {
  double before = 0, after = 0;  // before the copy, and after the run
};

struct TemporalCell {
  std::string name, why_absent;
  int width = 0;  // of the tiles it had; 0: sweeps
  bool chosen = false;
  double window_kib = 0;        // that a worker had in use at a time
  double bytes_per_update = 0;  // to and from memory, predicted
  bool obstacles = false;
  std::vector<double> rates;       // MLUP/s, of sites that are computed
  std::vector<double> copy_rates;  // right before, of elements
  std::vector<CpuDistance> cpus;   // of each sample; none with one cpu
  bool verified = true;
};

struct TemporalStudy {
  std::vector<TemporalCell> cells;
  bool streaming_copy = false;       // what the limit is
  std::vector<double> cached_rates;  // MLUP/s of the same update where nothing waits for memory
  double empty_tile_us = 0;          // worker time that a tile takes without its update
};

TemporalStudy study(TemporalOptions const& options);
std::string describe(TemporalStudy const& study, TemporalOptions const& options);
std::vector<Result> results(TemporalStudy const& study, TemporalOptions const& options);

// Samples by where the first two workers' cpus were. A host may run two cpus of a virtual machine
// on cores that share a last cache and its link to memory, and some seconds later on cores that
// have one each. Their copy rate changes with that; how long a cache line takes from one to the
// other tells.

class ByDistance {
 public:
  enum Kind { near, far };  // up to twice the shortest round trip of the run, and longer ones

  explicit ByDistance(TemporalStudy const& study);

  std::vector<double> const& round_trips() const noexcept {
    return round_trips_;
  }  // ns, before each copy
  bool both() const noexcept { return !copies_[near].empty() && !copies_[far].empty(); }
  std::vector<double> const& copies(Kind kind) const noexcept { return copies_[kind]; }
  // Of the samples before and after which the cpus lay so.
  std::vector<double> rates(TemporalCell const& cell, Kind kind) const;
  // Median of these beside the median of such copies; nothing where there are none.
  std::optional<double> of_limit(TemporalCell const& cell, Kind kind) const;

  // Lines for people: all that is known of the cpus, empty with one of them; and of a cell by both
  // kinds, empty where there is only one.
  std::string describe_cpus() const;
  std::string describe_limit(TemporalCell const& cell) const;

 private:
  std::vector<double> round_trips_;
  std::array<std::vector<double>, 2> copies_;
  double longest_near_ = 0;

  Kind kind_of(double round_trip) const noexcept {
    return round_trip <= longest_near_ ? near : far;
  }
};

// One variant alone, facts a line.

// std::runtime_error when the field differs from the serial reference.
void run_single(TemporalOptions const& options);

}  // namespace bench
