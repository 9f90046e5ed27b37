// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every variant side by side, and the paper's Table 1 of this machine.

#include <map>
#include <string>
#include <vector>

#include "bench/jacobi3d/problem.hpp"
#include "bench/probes.hpp"
#include "bench/results.hpp"

namespace bench {

// One variant as it is measured: with one submission order, under one init rule.
struct Cell {
  jacobi3d::VariantInfo const* variant = nullptr;
  jacobi3d::Order order = jacobi3d::Order::kji;
  jacobi3d::Init init = jacobi3d::Init::contiguous;

  auto key() const { return std::tuple(variant->name, order, init); }
  bool operator<(Cell const& other) const { return key() < other.key(); }
};

struct Measured {
  std::vector<double> rates;  // MLUP/s, one for each repetition
  // Million elements per second copied right before each of them. Memory speed on a shared host
  // drifts within minutes, so a share of the limit is taken sample by sample.
  std::map<Stores, std::vector<double>> copies;
  BlockCounts blocks;
  bool verified = true;
};

struct Comparison {
  std::vector<Cell> cells;  // in the order they ran in
  std::map<Cell, Measured> measured;

  // Million updates per second that the memory would allow, if each update moved 16 bytes with
  // streaming stores, or 24 with plain ones (the line written is read first).
  double limit(Stores stores) const;
};

// Median share of what the memory would allow at the time.
double share_of_limit(Measured const& measured, Stores stores);

Comparison compare(JacobiOptions const& options);

// The paper's layout, then all variants.
std::string describe(Comparison const& comparison, JacobiOptions const& options);

std::vector<Result> results(Comparison const& comparison, JacobiOptions const& options);

// The paper's open question: how small may tasks become before scheduling costs more than it gains?

struct StudyPoint {
  jacobi3d::VariantInfo const* variant = nullptr;
  jacobi3d::Extent block;
  int blocks = 0;
  std::vector<double> rates;        // MLUP/s
  std::vector<double> overhead_ns;  // thread time per block beyond that of one thread's plain loop
  bool verified = true;
};

struct BlockStudy {
  std::vector<StudyPoint> points;  // by block size, and for each by variant
};

BlockStudy study_blocks(JacobiOptions const& options);
std::string describe(BlockStudy const& study, JacobiOptions const& options);
std::vector<Result> results(BlockStudy const& study, JacobiOptions const& options);

// One variant alone, as a plain program: for the virtual machine with real NUMA, and for
// profilers. The sweeps lie between marks for the locality meter.

void run_single(JacobiOptions const& options, bool report);

}  // namespace bench
