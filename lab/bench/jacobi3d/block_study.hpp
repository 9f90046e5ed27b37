// SPDX-License-Identifier: Apache-2.0
#pragma once
// The paper's open question: how small may tasks become before scheduling costs more than it gains?

#include "bench/jacobi3d/problem.hpp"
#include "bench/results.hpp"

namespace bench {

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

}  // namespace bench
